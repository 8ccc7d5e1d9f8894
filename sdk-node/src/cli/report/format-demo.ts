// The lines of `svc demo`.

import type { DemoReport } from './report.ts'

export function formatDemo(report: DemoReport): string {
  if (report.event === 'demo')
    return [
      'This process is a web server now. TLS ends in it: the relay carries bytes that it cannot read.',
      '',
      `  ${report.url}`,
      '',
      'Open it on any device, or send it to somebody. Ctrl-C takes it off the relay.',
    ].join('\n')
  const { visit, browser, said } = report
  return said === undefined ? `visitor ${visit} opened it with ${browser}` : `${browser} says: ${said}`
}
