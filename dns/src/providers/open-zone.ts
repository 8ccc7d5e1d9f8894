// Opens the API of a DNS provider, and loads only its code.

import type { OpenApi } from './open-api.ts'
import type { ZoneApi } from './zone-api.ts'

/** A provider whose API changes records. */
export type ZoneApiName = 'cloudflare' | 'gcloud' | 'hetzner' | 'njalla' | 'route53' | 'vultr'

const LOADERS: Readonly<Record<ZoneApiName, () => Promise<{ open: OpenApi }>>> = {
  cloudflare: () => import('./cloudflare.ts'),
  gcloud: () => import('./gcloud.ts'),
  hetzner: () => import('./hetzner.ts'),
  njalla: () => import('./njalla.ts'),
  route53: () => import('./route53.ts'),
  vultr: () => import('./vultr.ts'),
}

/** The names of all providers. */
export const ZONE_API_NAMES: readonly ZoneApiName[] = Object.keys(LOADERS) as ZoneApiName[]

/** Reads the credentials, and makes no request. @throws CredentialError when a variable is missing or invalid */
export async function openZoneApi(name: ZoneApiName, ...[options]: Parameters<OpenApi>): Promise<ZoneApi> {
  const { open } = await LOADERS[name]()
  return await open(options)
}
