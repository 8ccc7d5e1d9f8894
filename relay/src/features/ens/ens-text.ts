// Builds the TXT record from which ENS resolves a DNS name without a transaction (ENSIP-17, gasless DNSSEC).

/** The mainnet resolver that reads the address from the rest of the record (`ExtendedDNSResolver`). */
const RESOLVER = '0x238A8F792dFA6033814B18618aD4100654aeef01'

/** @param address Ethereum address to which the name resolves */
export function ensText(address: string): string {
  return `ENS1 ${RESOLVER} ${address}`
}
