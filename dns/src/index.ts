// An authoritative DNS server of one zone, with online signing: the API for starting one.

export { dsText } from './dnssec/key-records.ts'
export { newZoneKey, readZoneKey, writeZoneKey, type ZoneKey } from './dnssec/zone-key.ts'
export type { DnsCounts } from './server/counts.ts'
export type { BoundAddress, DnsAddress } from './server/listeners.ts'
export type { ResponseRates } from './server/response-rate.ts'
export {
  type DnsLog,
  type DnsServer,
  type DnsServerOptions,
  startDnsServer,
} from './server/start-dns-server.ts'
export type { ZoneChange } from './zone/answer.ts'
export { ADDRESS_TTL_S, STEADY_TTL_S } from './zone/limits.ts'
export { addressData, caaData, TYPE, textData } from './zone/record-data.ts'
export type { ZoneParameters } from './zone/zone.ts'
