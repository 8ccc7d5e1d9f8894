// The features of the relay. Deleting one is deleting its folder and its line. Where `needs` does not decide, they start, and listen,
// in this order, in which `svc-relay check` lists them, too.

import type { Feature } from '../feature.ts'
import { acme } from './acme/index.ts'
import { awayPage } from './away-page/index.ts'
import { cluster } from './cluster/index.ts'
import { customDomains } from './custom-domains/index.ts'
import { datagrams } from './datagrams/index.ts'
import { discovery } from './discovery/index.ts'
import { dns } from './dns/index.ts'
import { ens } from './ens/index.ts'
import { go } from './go/index.ts'
import { installer } from './installer/index.ts'
import { metrics } from './metrics/index.ts'
import { overlay } from './overlay/index.ts'
import { payment } from './payment/index.ts'
import { ports } from './ports/index.ts'
import { redirect } from './redirect/index.ts'
import { securityContact } from './security-contact/index.ts'
import { siteCertificates } from './site-certificates/index.ts'
import { staticCache } from './static-cache/index.ts'
import { workers } from './workers/index.ts'

export const FEATURES: readonly Feature[] = [
  workers,
  dns,
  ens,
  acme,
  siteCertificates,
  cluster,
  ports,
  datagrams,
  staticCache,
  awayPage,
  customDomains,
  payment,
  discovery,
  overlay,
  go,
  metrics,
  redirect,
  installer,
  securityContact,
]
