// The main of every unit test program: doctest's, with its options (--help).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
