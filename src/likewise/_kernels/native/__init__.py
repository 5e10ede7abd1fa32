"""The compiled operations: what each hands to the C library, on threads of ours."""
