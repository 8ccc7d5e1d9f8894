// The stand-ins of all providers.
import { cloudflare } from './cloudflare.ts'
import type { Dialect } from './fake-api.ts'
import { gcloud } from './gcloud.ts'
import { hetzner } from './hetzner.ts'
import { njalla } from './njalla.ts'
import { route53 } from './route53.ts'
import { vultr } from './vultr.ts'

export const DIALECTS: readonly Dialect[] = [cloudflare, gcloud, hetzner, njalla, route53, vultr]
