// A DNS client that believes no cache: it asks each authoritative name server.

export {
  type CachedAnswer,
  DnsClient,
  type DnsClientOptions,
  type LookUpStep,
  type ServerAnswer,
} from './dns-client.ts'
export type { DnsRecord, RecordKind } from './message.ts'
