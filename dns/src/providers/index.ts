// The APIs of DNS providers: records of one zone, with the credentials of its owner. Nothing here loads a provider's code
// before it is opened.

export { CredentialError, type Environment } from './credentials.ts'
export { openZoneApi, ZONE_API_NAMES, type ZoneApiName } from './open-zone.ts'
export { DnsProviderError, type DnsProviderFault, type DnssecState } from './provider-error.ts'
export { caaParts, normalizedAddresses } from './record-value.ts'
export { asProviderError, retrying } from './retry.ts'
export type { ApiConnection, ApiHttp, RecordSet, RecordType, Zone, ZoneApi } from './zone-api.ts'
export { plainName, zoneCandidates } from './zone-names.ts'
