/* Distances from products for one instruction set: wants SET, its name, and TARGET, which compiles a function for it. */

TARGET static int64_t JOIN(expand, SET, rows)(const struct expansion *E)
{
    const double *restrict other_sizes = E->other_sizes;
    const double doubt = E->doubt, resolution = E->resolution;
    int64_t cancelled = 0;
    for (int64_t i = 0; i < E->n_rows; i++) {
        double *restrict row = E->products + i * E->n_others;
        const double size = E->sizes[i];
        for (int64_t j = 0; j < E->n_others; j++) {
            const double square = row[j] * -2 + size + other_sizes[j];
            const int sound = square > (size + other_sizes[j]) * doubt;
            const double distance = sqrt(square);
            cancelled += !sound;
            row[j] = !sound ? NAN : distance <= resolution ? 0 : distance;
        }
    }
    return cancelled;
}
