/* What is called: it does as little as a function can. In a file of its own, so that no compiler merges it with the loop. */
long FUNCTION(long x)
{
    return x + 1;
}
