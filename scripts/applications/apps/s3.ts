// Object storage with signed requests: the server that rclone has for `serve s3`, and URLs as an SDK of AWS signs them.
import { createHash, createHmac } from 'node:crypto'
import path from 'node:path'
import type { Application } from '../application.ts'
import { go } from '../installers.ts'
import type { Visitor } from '../visitor.ts'

const KEY = 'a-key'
const SECRET = 'a-secret'

const SERVER = `package main

import (
	"log"
	"net/http"
	"os"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
)

func main() {
	keys := gofakes3.WithV4Auth(map[string]string{"${KEY}": "${SECRET}"})
	server := gofakes3.New(s3mem.New(), keys).Server()
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], server))
}
`

export const S3: readonly Application[] = [
  {
    name: 'S3 of rclone',
    checks:
      'URLs signed for the public host (SigV4): a bucket, an object stored and read, a name with a blank and a letter beyond ASCII; one signed for another host is 403',
    install: (folder) => go(folder, SERVER, ['github.com/rclone/gofakes3@v0.0.12']),
    start: (folder, port) => [path.join(folder, 'app'), String(port)],
    async check(visitor) {
      const object = '/photos/a%20b/%C3%BC%2B1.txt'
      await visitor.expect(200, '', signed(visitor, 'PUT', '/photos'), { method: 'PUT' })
      await visitor.expect(200, '', signed(visitor, 'PUT', object), { method: 'PUT', body: 'an object' })
      await visitor.page(signed(visitor, 'GET', object), 'an object')
      const elsewhere = signed(visitor, 'GET', object, 'localhost')
      await visitor.expect(403, 'SignatureDoesNotMatch', elsewhere)
    },
  },
]

/** @returns the target of a URL that is signed with a query, as AWS describes it for SigV4 */
function signed(visitor: Visitor, method: string, target: string, host: string = visitor.url.host): string {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = [time.slice(0, 8), 'us-east-1', 's3', 'aws4_request']
  const query = String(
    new URLSearchParams({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
      'X-Amz-Credential': [KEY, ...scope].join('/'),
      'X-Amz-Date': time,
      'X-Amz-Expires': '900',
      'X-Amz-SignedHeaders': 'host',
    }),
  )
  const asked = [method, target, query, `host:${host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const digest = createHash('sha256').update(asked).digest('hex')
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), digest].join('\n')
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${SECRET}`)
  return `${target}?${query}&X-Amz-Signature=${hmac(key, text).toString('hex')}`
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
