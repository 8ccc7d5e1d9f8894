// Runs the command `svc-relay check`, which starts no relay.

import type { Finding, Status } from '../core/check/finding.ts'
import { type Report, reportOf } from './check/report.ts'

/** Prints what a start would do; the exit code is 1 when it would fail. */
export async function check({ isJson, isRestart }: { isJson: boolean; isRestart: boolean }): Promise<void> {
  const report = await reportOf(process.env, { isRestart })
  console.log(isJson ? JSON.stringify(report, undefined, 2) : asText(report))
  if (!report.ok) process.exitCode = 1
}

function asText({ ok, findings }: Report): string {
  const width = Math.max(...findings.map(({ feature }) => feature.length))
  const lines = findings.map(
    ({ feature, status, message }) =>
      `${status.padEnd('warning'.length)}  ${feature.padEnd(width)}  ${message}`,
  )
  return [...lines, '', summaryOf(ok, findings)].join('\n')
}

function summaryOf(ok: boolean, findings: readonly Finding[]): string {
  const [errors, warnings] = (['error', 'warning'] as const).map((status) => counted(findings, status))
  return ok ? `A start would succeed, with ${warnings}.` : `A start would fail: ${errors}, ${warnings}.`
}

function counted(findings: readonly Finding[], status: Status): string {
  const count = findings.filter((one) => one.status === status).length
  return `${count} ${status}${count === 1 ? '' : 's'}`
}
