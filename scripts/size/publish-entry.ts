// The smallest page that publishes: what scripts/size.ts weighs.
import { publish } from '@svc/sdk-browser'

Object.assign(globalThis, { publish })
