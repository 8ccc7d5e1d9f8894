// `svc knock`: each running `svc` whose visitors may knock tells who waits, and takes answers, at a socket that only its user can open.

import { join } from 'node:path'
import { isRecord, SvcError } from '@svc/sdk-core'
import type { KnockReport, Reporter } from '../report/report.ts'
import type { StatusStore } from '../report/status-store.ts'
import { answerAt, askAll, askAt } from './command-socket.ts'

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
export function shareKnocks(run: string, store: StatusStore): Promise<{ close(): void }> {
  return answerAt(folderIn(run), 'svc knock', ({ answer }): Outcome => {
    const isAnswered = isRecord(answer) && store.answerKnock(knockAnswer(answer))
    return { isAnswered, knocks: store.knockReports() }
  })
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
  const outcome = found[0] && (await askAt<Outcome>(found[0].path, { answer }))
  if (!outcome?.isAnswered)
    throw new SvcError('invalid_option', `nobody with the number ${answer.code} waits`)
  const { code, admit: admitted, always } = answer
  tell({ event: 'answered', code, admitted, always })
}

function knockAnswer({ code, admit, always }: Record<string, unknown>): KnockAnswer {
  return { code: String(code), admit: admit === true, always: always === true }
}

function ask(run: string): Promise<(Outcome & { path: string })[]> {
  return askAll<Outcome>(folderIn(run), {})
}
