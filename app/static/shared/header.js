// The pages, what is known and the paper are one Tab stop, at first the page that is open.
rove(element, ".bar-inner :is(a, summary)", "[aria-current]")();
