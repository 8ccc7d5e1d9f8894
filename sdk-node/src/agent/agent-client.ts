// The client of a running agent's control API, for the commands of `svc agent` and the terminal's live view.

import { request } from 'node:http'
import { isRecord } from '@svc/sdk-core'
import type { AgentAnswer, AgentEndpoint, AgentErrorCode } from './api-messages.ts'
import { isLoopback } from './control-address.ts'
import { AgentError } from './errors.ts'

/** The deadline of the agent's answer to `svc agent`, in milliseconds: it answers at once, unless it is stopped. */
const ANSWER_DEADLINE_MS = 5_000

/** The largest answer, in bytes: far more than the state of a hundred tunnels. */
const ANSWER_MAX_BYTES = 16 * 1024 * 1024

/**
 * Resolves with the data of the agent's answer.
 * @param endpoint its address, which must be a loopback address, and its token
 * @param path one of `AGENT_PATH`, with a query where it takes one
 * @throws AgentError the agent's own, or `agent_unavailable` when nothing answers as an agent does
 */
export async function askAgent<Data>(
  { url, token }: Pick<AgentEndpoint, 'url' | 'token'>,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<Data> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  // The token must not leave this machine, even if the file names another address.
  if (!isLoopback(host)) throw unavailable(url, new Error('it is not an address of this machine'))
  const answer = await send({ host, port, method, path, token, body }).catch((cause) => {
    throw unavailable(url, cause)
  })
  if (!isAnswer(answer)) throw unavailable(url, new Error('it does not answer as an agent does'))
  if (answer.ok) return answer.data as Data
  throw new AgentError(answer.error.code as AgentErrorCode, answer.error.message)
}

interface Question {
  host: string
  port: string
  method: string
  path: string
  token: string
  body: object | undefined
}

function send({ host, port, method, path, token, body }: Question): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body && { 'Content-Type': 'application/json' }),
  }
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS)
  // `agent: false` avoids a pooled connection that would outlive the command.
  const asked = request({ host, port, method, path, headers, signal, agent: false }, (response) => {
    const parts: Buffer[] = []
    let size = 0
    response.on('data', (part: Buffer) => {
      size += part.length
      if (size > ANSWER_MAX_BYTES) response.destroy(new Error('the answer is too long'))
      else parts.push(part)
    })
    response.on('error', reject)
    response.on('end', () => {
      try {
        resolve(JSON.parse(Buffer.concat(parts).toString()))
      } catch (error) {
        reject(error)
      }
    })
  })
  asked.on('error', reject)
  asked.end(body && JSON.stringify(body))
  return promise
}

function isAnswer(answer: unknown): answer is AgentAnswer<unknown> {
  if (!isRecord(answer)) return false
  if (answer.ok === true) return true
  const { error } = answer
  return isRecord(error) && typeof error.code === 'string' && typeof error.message === 'string'
}

function unavailable(url: string, cause: unknown): AgentError {
  return new AgentError('agent_unavailable', `no agent answers at ${url}`, cause)
}
