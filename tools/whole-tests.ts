// Makes large tests run whole: a command imports this before the tests that ask for their depth.

process.env.TEST_DEPTH ??= 'whole'
