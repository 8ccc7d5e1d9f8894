// Sockets at which a running `svc` answers other commands of its user: a question and an answer, each in JSON.

import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { asSvcError, isRecord } from '@svc/sdk-core'

/** The deadline of a question and its answer, in milliseconds: a process answers at once, unless it is stopped or its disk is very slow. */
const ANSWER_DEADLINE_MS = 5_000
/** The longest question, in characters. */
const QUESTION_MAX_CHARS = 16 * 1024
/** The end of a socket's name, after the number of its process. */
export const SUFFIX = '.sock'
/** The modes of the folder and of each socket: no other user of this machine may ask. */
const FOLDER_MODE = 0o700
const SOCKET_MODE = 0o600

/** Returns the answer to a question, whose content is not checked yet. */
export type AnswerTo = (question: Record<string, unknown>) => object | Promise<object>

/**
 * Answers until it is closed.
 * @param folder the folder of all sockets for this kind of question
 * @param command the command that asks, for the error
 * @throws SvcError `invalid_option` when the socket cannot be created
 */
export function answerAt(folder: string, command: string, answer: AnswerTo): Promise<{ close(): void }> {
  return listenAt(folder, command, (socket) => listen(socket, answer))
}

/**
 * Takes connections at a socket of this process until it is closed.
 * @param folder the folder of all such sockets
 * @param command the command that connects, for the error
 * @throws SvcError `invalid_option` when the socket cannot be created
 */
export async function listenAt(
  folder: string,
  command: string,
  connected: (socket: Socket) => void,
): Promise<{ close(): void }> {
  const server = createServer({ allowHalfOpen: true }, connected)
  server.unref()
  const path = join(folder, `${process.pid}${SUFFIX}`)
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
    // The folder may be from before, and the socket is open to more users until its own mode is set.
    await chmod(folder, FOLDER_MODE)
    // The file is from a killed process with the same pid.
    await rm(path, { force: true })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    await chmod(path, SOCKET_MODE)
  } catch (cause) {
    server.close()
    throw asSvcError(cause, 'invalid_option', `${command} will not see this: no socket ${path}`)
  }
  return { close: () => void server.close() }
}

function listen(socket: Socket, answer: AnswerTo): void {
  let question = ''
  socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy())
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (text) => {
    question += text
    if (question.length > QUESTION_MAX_CHARS) socket.destroy()
  })
  socket.on('end', async () => {
    try {
      socket.end(JSON.stringify(await answer(parse(question))))
    } catch {
      socket.destroy()
    }
  })
}

function parse(question: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(question)
  return isRecord(parsed) ? parsed : {}
}

/** Resolves with the sockets of all processes, also of some that were killed. */
export async function socketsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name))
}

/** Asks all running processes. Those that do not answer are left out. */
export async function askAll<A extends object>(
  folder: string,
  question: object,
): Promise<(A & { path: string })[]> {
  const paths = await socketsIn(folder)
  const answers = await Promise.all(
    paths.map(async (path) => {
      const answer = await askAt<A>(path, question)
      return answer ? [{ ...answer, path }] : []
    }),
  )
  return answers.flat()
}

/** Resolves with the answer of one process; undefined when it does not answer. */
export async function askAt<A extends object>(path: string, question: object): Promise<A | undefined> {
  const socket = connect(path)
  socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
  try {
    socket.end(JSON.stringify(question))
    return JSON.parse(Buffer.concat(await socket.toArray()).toString())
  } catch {
    return undefined
  }
}
