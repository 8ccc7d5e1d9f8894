// The operator: asks with the admin token, and bans addresses.
import { Agent, request } from 'node:https'
import { PATH, type PolicyDecisionsResponse } from '@svc/protocol'

const OK = 200

export class AdminClient {
  readonly #url: URL
  readonly #ca: string
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string, ca: string, token: string) {
    this.#url = new URL(url)
    this.#ca = ca
    this.#token = token
  }

  /** @throws Error with the status when it is not done */
  async ban(ip: string): Promise<void> {
    await this.#ask('POST', PATH.policyIps, { ip, is_banned: true })
  }

  async bannedIps(): Promise<string[]> {
    const { data }: { data: PolicyDecisionsResponse } = JSON.parse(
      await this.#ask('GET', PATH.policyDecisions),
    )
    return data.banned_ips
  }

  close(): void {
    this.#agent.destroy()
  }

  #ask(method: string, path: string, body?: object): Promise<string> {
    const { host, hostname, port } = this.#url
    const where = { host: '127.0.0.1', servername: hostname, port, ca: this.#ca, agent: this.#agent }
    const headers = { Host: host, Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' }
    return new Promise((resolve, reject) => {
      const asked = request({ ...where, method, path, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        response.on('error', reject).on('end', () => {
          if (response.statusCode === OK) resolve(text)
          else reject(new Error(`${response.statusCode} ${text}`))
        })
      })
      asked.on('error', reject).end(body && JSON.stringify(body))
    })
  }
}
