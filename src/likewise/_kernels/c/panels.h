/* A block of columns to and from its panels: a template, included once per element type T. */

/* packed[r] = columns of block[order[r]], zeros beyond those used. */
static void NAME(pack)(const struct packing *packing, int64_t start, int64_t stop)
{
    for (int64_t r = start; r < stop; r++) {
        const int64_t from = packing->order[r];
        T *row = (T *)packing->panel + r * packing->width;
        memcpy(row, (const T *)packing->block + from * packing->stride, packing->used * sizeof(T));
        for (int64_t k = packing->used; k < packing->width; k++) row[k] = 0;
    }
}

/* columns of block[order[r]] = sum over parts of panel[part][r]. */
static void NAME(unpack)(const struct packing *packing, int64_t start, int64_t stop)
{
    for (int64_t r = start; r < stop; r++) {
        const int64_t to = packing->order[r];
        T *row = (T *)packing->panel + r * packing->width;
        for (int64_t part = 1; part < packing->n_parts; part++)
            for (int64_t k = 0; k < packing->width; k++) row[k] += row[part * packing->part_stride + k];
        memcpy((T *)packing->block + to * packing->stride, row, packing->used * sizeof(T));
    }
}
