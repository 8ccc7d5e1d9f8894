// What the small programs of some rows are told on their command line; clients/pipe.* read it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Task, Workspace } from './client.ts'
import { PKCS12_PASSWORD } from './credentials.ts'
import { encodeRequest } from './http.ts'
import { EXPORTER_BYTES } from './site.ts'

/** `key=value`, one an argument. The program sends the request's bytes, and prints the response's. */
export function pipeArguments({ directory, credentials }: Workspace, task: Task): string[] {
  const request = join(directory, `request-${task.port}`)
  writeFileSync(request, encodeRequest(task.upload))
  const { client } = credentials
  const pairs = {
    port: task.port,
    ca: credentials.ca,
    request,
    connections: task.resume ? 2 : 1,
    ...(task.exporter !== undefined && { exporter: task.exporter, exporterBytes: EXPORTER_BYTES }),
    ...(task.certificate && { certificate: client.certificate, key: client.key }),
    ...(task.certificate && { pkcs12: client.pkcs12, password: PKCS12_PASSWORD }),
  }
  return Object.entries(pairs).map(([key, value]) => `${key}=${value}`)
}
