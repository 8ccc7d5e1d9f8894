// Bounds how long unit tests wait, in milliseconds. The bounds end what hangs: one machine may be many times slower than another.
import { atDepth } from './test-depth.ts'

/** One test, or one of its hooks. */
export const TEST_TIMEOUT_MS: number = atDepth(10, 2) * 60_000
/** One condition that a test waits for. */
export const WAIT_TIMEOUT_MS = 60_000
