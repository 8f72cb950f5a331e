/* Loops over calls. Compiled once for each way of linking, with other names. */
#ifdef FUNCTION
long FUNCTION(long x);

/* Calls a function of that name, wherever the linker finds it. */
long LOOP(long calls)
{
    long x = 0;
    for (long call = 0; call < calls; call++)
        x = FUNCTION(x);
    return x;
}
#else
/* Calls through a pointer that is known at run time only. */
long lab_loop_pointer(long (*function)(long), long calls)
{
    long x = 0;
    for (long call = 0; call < calls; call++)
        x = function(x);
    return x;
}

/* Calls nothing: the addition is in the loop, and the compiler cannot do several at once. */
long lab_loop_inline(long calls)
{
    long x = 0;
    for (long call = 0; call < calls; call++) {
        x = x + 1;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}
#endif
