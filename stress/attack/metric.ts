// One figure of the relay's metrics, as a scraper gets it.
import { get } from 'node:http'
import type { Target } from './target.ts'

/** @returns 0 for one that is not there */
export function metric({ metricsPort }: Pick<Target, 'metricsPort'>, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = get(
      { host: '127.0.0.1', port: metricsPort, path: '/metrics', agent: false },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        response.on('end', () => resolve(sampleOf(text, name)))
      },
    )
    asked.on('error', reject)
  })
}

function sampleOf(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}
