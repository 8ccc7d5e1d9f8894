// `svc knock`: each running `svc` whose visitors may knock tells who waits, and takes answers, at a socket that only its user can open.

import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { asSvcError, isRecord, SvcError } from '@svc/sdk-core'
import type { KnockReport, Reporter } from '../report/report.ts'
import type { StatusStore } from '../report/status-store.ts'

/** The deadline of an answer, in milliseconds: a process answers at once, unless it is stopped. */
const ANSWER_DEADLINE_MS = 2_000
/** The longest question, in characters. */
const QUESTION_MAX_CHARS = 1_000
const SUFFIX = '.sock'

/** What the owner answers to the visitor of this code. */
export interface KnockAnswer {
  code: string
  admit: boolean
  always: boolean
}

interface Outcome {
  knocks: KnockReport[]
  /** Whether somebody waited who has the answer now. */
  isAnswered: boolean
}

/** Returns the folder of the sockets. @param run the folder of all sockets of this user */
function folderIn(run: string): string {
  return join(run, 'knock')
}

/**
 * Tells who waits until it is closed.
 * @param run the folder of all sockets of this user
 * @throws SvcError `invalid_option` when the socket cannot be created
 */
export async function shareKnocks(run: string, store: StatusStore): Promise<{ close(): void }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => listen(socket, store))
  server.unref()
  const path = join(folderIn(run), `${process.pid}${SUFFIX}`)
  try {
    await mkdir(folderIn(run), { recursive: true, mode: 0o700 })
    // The file is from a killed process with the same pid.
    await rm(path, { force: true })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    await chmod(path, 0o600)
  } catch (cause) {
    server.close()
    throw asSvcError(cause, 'invalid_option', `svc knock will not see this: no socket ${path}`)
  }
  return { close: () => void server.close() }
}

/** Reports each visitor who waits. */
export async function listKnocks(run: string, tell: Reporter): Promise<void> {
  const knocks = (await ask(run)).flatMap(({ knocks }) => knocks)
  for (const knock of knocks) tell(knock)
  if (knocks.length === 0) tell({ event: 'nobody_waits' })
}

/**
 * Answers the visitor of this code.
 * @throws SvcError `invalid_option` when nobody, or more than one, has it
 */
export async function answerKnock(run: string, answer: KnockAnswer, tell: Reporter): Promise<void> {
  const all = (await ask(run)).flatMap(({ path, knocks }) => knocks.map((knock) => ({ path, knock })))
  const found = all.filter(({ knock }) => knock.code === answer.code)
  if (found.length > 1)
    throw new SvcError('invalid_option', `${answer.code} waits at more than one svc: answer there`)
  const outcome = found[0] && (await askAt(found[0].path, { answer }))
  if (!outcome?.isAnswered)
    throw new SvcError('invalid_option', `nobody with the number ${answer.code} waits`)
  const { code, admit: admitted, always } = answer
  tell({ event: 'answered', code, admitted, always })
}

function listen(socket: Socket, store: StatusStore): void {
  let question = ''
  socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy())
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (text) => {
    question += text
    if (question.length > QUESTION_MAX_CHARS) socket.destroy()
  })
  socket.on('end', () => {
    const answer = answerIn(question)
    const isAnswered = answer !== undefined && store.answerKnock(answer)
    const outcome: Outcome = { isAnswered, knocks: store.knockReports() }
    socket.end(JSON.stringify(outcome))
  })
}

function answerIn(question: string): KnockAnswer | undefined {
  try {
    const { answer } = JSON.parse(question)
    if (!isRecord(answer)) return undefined
    return { code: String(answer.code), admit: answer.admit === true, always: answer.always === true }
  } catch {
    return undefined
  }
}

/** Asks all running processes. Those that do not answer are left out. */
async function ask(run: string): Promise<(Outcome & { path: string })[]> {
  const folder = folderIn(run)
  const names = await readdir(folder).catch(() => [])
  const paths = names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name))
  const outcomes = await Promise.all(
    paths.map(async (path) => {
      const outcome = await askAt(path, {})
      return outcome ? [{ path, ...outcome }] : []
    }),
  )
  return outcomes.flat()
}

async function askAt(path: string, question: { answer?: KnockAnswer }): Promise<Outcome | undefined> {
  const socket = connect(path)
  socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
  try {
    socket.end(JSON.stringify(question))
    return JSON.parse(Buffer.concat(await socket.toArray()).toString())
  } catch {
    return undefined
  }
}
