// The V8 flags that `svc` serves visitors with, for the reasons that a relay has (docs/decisions/0011-v8-heap-options.md).

/** The initial heap in megabytes; twice as much did no better. */
const INITIAL_HEAP_MB = 128
/** The versions of Node that are known to have the options: Node does not start with one that it does not know. */
const NODE_MAJORS: ReadonlySet<string> = new Set(['24', '25', '26'])

export const V8_FLAGS: readonly string[] = NODE_MAJORS.has(process.versions.node.split('.')[0] ?? '')
  ? ['--external-memory-accounted-in-global-limit', `--initial-heap-size=${INITIAL_HEAP_MB}`, '--expose-gc']
  : []
