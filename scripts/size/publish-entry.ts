// The smallest page that publishes: scripts/size.ts weighs it.
import { publish } from '@svc/sdk-browser'

Object.assign(globalThis, { publish })
