// The inspector's own server, for a command without an agent: on the loopback interface, at a random port.

import { Inspection, Inspector } from '@svc/sdk-core/inspector'
import type { Ticket } from '../agent/api-messages.ts'
import { type ControlServer, startControlServer } from '../agent/control-server.ts'
import type { Endpoint, SharedContext } from '../agent/endpoint.ts'
import type { PageAnswer } from '../agent/page.ts'
import { newSecret } from '../agent/secrets.ts'
import { newTicket, SIGN_IN_ENDPOINTS } from '../agent/sign-in-endpoints.ts'
import { INSPECTOR_ENDPOINTS, type InspectorContext } from './endpoints.ts'
import { type PageSettingsStore, WITHOUT_SETTINGS } from './page-settings.ts'

/** The entries of a command, and the bytes of each content and of all. */
const ENTRIES = 1_000
const BODY_BYTES: number = 1024 * 1024
const TOTAL_BYTES: number = 64 * 1024 * 1024

type Context = SharedContext & InspectorContext

const ENDPOINTS: Readonly<Record<string, Endpoint<Context>>> = {
  ...SIGN_IN_ENDPOINTS,
  ...INSPECTOR_ENDPOINTS,
}

export interface InspectorServer {
  /** The address, without a path. */
  readonly url: string
  /** Makes the address of the page, which signs in once, within a minute. */
  ticket(): Ticket
  close(): Promise<void>
}

/** Returns the operations of a new inspector with the limits of a command. */
export function newInspection(): Inspection {
  return new Inspection(new Inspector({ limit: ENTRIES, maxBodyBytes: BODY_BYTES, maxBytes: TOTAL_BYTES }))
}

/**
 * Starts the server, which listens until it is closed.
 * @param failed called with an unexpected error
 * @param page resolves with the file of the page at a path
 * @param settings keeps what a person chose for the page
 * @throws AgentError `address_refused`
 */
export async function startInspectorServer(
  inspection: Inspection,
  failed: (error: unknown) => void,
  page?: (path: string) => Promise<PageAnswer | undefined>,
  settings: PageSettingsStore = WITHOUT_SETTINGS,
): Promise<InspectorServer> {
  // Nobody has this token: each page signs in with a ticket.
  const server: ControlServer = await startControlServer({ host: '127.0.0.1', port: 0 }, newSecret(), {
    endpoints: ENDPOINTS,
    context: (shared) => ({ ...shared, inspection: () => inspection, settings }),
    failed,
    page,
  })
  const { url, signIns } = server
  return {
    url,
    ticket: () => newTicket({ url, signIns }),
    close: async () => {
      inspection.stopReplays()
      await server.close()
    },
  }
}
