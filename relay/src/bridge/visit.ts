// One visitor of a tenant: claim a ready session, activate it, replay the ClientHello, then bridge raw bytes.

import type { Socket } from 'node:net'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Bindings } from '../keyless/bindings.ts'
import type { Lease } from '../lease/lease.ts'
import { writeTlsActivation } from '../reverse/marker.ts'
import { pipe } from './pipe.ts'

/** Resolves when the visitor has left or was turned away. */
export async function serveVisitor(
  visitor: Socket,
  hello: PeekedHello,
  lease: Lease,
  bindings: Bindings,
): Promise<void> {
  const session = await lease.ready.claim(whenClosed(visitor))
  if (session === undefined) {
    visitor.end(alertRecord(ALERT.internal_error))
    return
  }
  const binding = bindings.issue(lease, hello.message)
  writeTlsActivation(session, binding)
  session.write(hello.received)
  await pipe(visitor, session)
  bindings.revoke(binding)
}

function whenClosed(socket: Socket): AbortSignal {
  const controller = new AbortController()
  if (socket.closed) controller.abort()
  else socket.once('close', () => controller.abort())
  return controller.signal
}
