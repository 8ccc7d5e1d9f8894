// Finds which address of this machine the operating system uses for the internet, with a UDP socket that sends nothing.

import { createSocket } from 'node:dgram'

/** Public addresses, for which the default route is taken: those of k.root-servers.net. */
const INTERNET = { ipv4: '193.0.14.129', ipv6: '2001:7fd::1' } as const
const PORT = 53

/** @returns undefined without a route. Never rejects */
export async function sourceAddress(family: 'ipv4' | 'ipv6'): Promise<string | undefined> {
  const socket = createSocket(family === 'ipv4' ? 'udp4' : 'udp6')
  return await new Promise<string | undefined>((resolve) => {
    const end = (address: string | undefined): void => {
      socket.close()
      resolve(address)
    }
    socket.once('error', () => end(undefined))
    // Node passes an error as an argument, which its types omit.
    socket.connect(PORT, INTERNET[family], (error?: Error) =>
      end(error === undefined || error === null ? socket.address().address : undefined),
    )
  })
}
