// The V8 flags that `svc` serves visitors with: docs/decisions/0011-v8-heap-options.md has the figures.

import { v8Flags } from '@svc/node-kit/v8-flags'

/** The initial heap, in megabytes. Twice as much was no better. */
const INITIAL_HEAP_MB = 128

export const V8_FLAGS: readonly string[] = v8Flags(INITIAL_HEAP_MB)
