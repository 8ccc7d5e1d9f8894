// Settings of a relay with UDP ports that are free.
import { freePort } from '../../../tools/network/free-port.ts'

const PORTS = 10

export async function udpSettings(): Promise<Record<string, string>> {
  const first = await freePort()
  return { UDP_ENABLED: 'true', MIN_PORT: `${first}`, MAX_PORT: `${first + PORTS - 1}` }
}
