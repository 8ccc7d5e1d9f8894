// The features of the relay, in the order in which `svc-relay check` lists them. Deleting one is deleting its folder and its line.

import type { Feature } from '../feature.ts'
import { discovery } from './discovery/index.ts'
import { go } from './go/index.ts'
import { installer } from './installer/index.ts'
import { metrics } from './metrics/index.ts'
import { overlay } from './overlay/index.ts'
import { payment } from './payment/index.ts'
import { redirect } from './redirect/index.ts'
import { staticCache } from './static-cache/index.ts'

export const FEATURES: readonly Feature[] = [
  staticCache,
  payment,
  discovery,
  overlay,
  go,
  metrics,
  redirect,
  installer,
]
