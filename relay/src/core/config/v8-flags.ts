// The V8 flags of a relay: docs/decisions/0011-v8-heap-options.md has the figures.

import { v8Flags } from '@svc/node-kit/v8-flags'

const INITIAL_HEAP_MB = 256

export const V8_FLAGS: readonly string[] = v8Flags(INITIAL_HEAP_MB)
