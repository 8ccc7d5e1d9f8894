// A gRPC service that echoes bytes, at a server of @grpc/grpc-js, and calls of it with the client of that package.

import { once } from 'node:events'
import {
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  type ClientReadableStream,
  type ClientWritableStream,
  credentials,
  type deserialize,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'

/** For scripts, which have no package of gRPC. */
export { Metadata, status }

const identity = (bytes: Buffer): Buffer => bytes
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity as deserialize<Buffer>,
})
const METHODS = {
  unary: method('Unary', false, false),
  stream: method('Stream', true, true),
  flood: method('Flood', false, true),
  sink: method('Sink', true, false),
}

/** Bytes of one message of {@link EchoServer.flood} and of the calls that upload. */
export const MESSAGE_BYTES: number = 64 * 1024

export class EchoServer {
  readonly server: Server = new Server()
  port = 0
  /** Messages of the last flood that the server could write. */
  flooded = 0
  /** The last call of a method that streams. */
  call: ServerDuplexStream<Buffer, Buffer> | ServerReadableStream<Buffer, Buffer> | undefined
  /** Resolves when a call was cancelled. */
  readonly cancelled: PromiseWithResolvers<void> = Promise.withResolvers<void>()

  /**
   * @param isSecure with TLS, by the certificate that tests have
   * @param address `unix:` and a path, for a server that has no port
   */
  async start(isSecure: boolean, address = '127.0.0.1:0'): Promise<this> {
    this.server.addService(METHODS, {
      unary: unary,
      stream: (call: ServerDuplexStream<Buffer, Buffer>) => this.#stream(call),
      flood: (call: ServerWritableStream<Buffer, Buffer>) => this.#flood(call),
      sink: (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
        this.#sink(call, done),
    })
    const pair = { cert_chain: Buffer.from(CERTIFICATE_PEM), private_key: Buffer.from(PRIVATE_KEY_PEM) }
    const given = isSecure ? ServerCredentials.createSsl(null, [pair]) : ServerCredentials.createInsecure()
    this.port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync(address, given, (error, bound) => (error ? reject(error) : resolve(bound)))
    })
    return this
  }

  #stream(call: ServerDuplexStream<Buffer, Buffer>): void {
    this.call = call
    call.on('cancelled', () => this.cancelled.resolve())
    call.on('data', (message: Buffer) => {
      if (!call.write(message)) call.pause()
    })
    call.on('drain', () => call.resume())
    call.on('end', () => call.end())
  }

  async #flood(call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
    this.flooded = 0
    const count = call.request.readUInt32BE()
    for (let sent = 0; sent < count; sent += 1) {
      if (!call.write(Buffer.alloc(MESSAGE_BYTES, sent))) await once(call, 'drain')
      this.flooded += 1
    }
    call.end()
  }

  /** Reads nothing before the test resumes the call. */
  #sink(call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>): void {
    this.call = call
    let bytes = 0
    call.pause()
    call.on('data', (message: Buffer) => {
      bytes += message.length
    })
    call.on('end', () => done(null, Buffer.from(String(bytes))))
  }
}

function unary(call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>): void {
  const said = call.metadata.get('x-said')
  const initial = new Metadata()
  for (const value of said) initial.add('x-heard', value)
  call.sendMetadata(initial)
  const trailers = new Metadata()
  trailers.set('x-last-bin', Buffer.from([0, 255]))
  if (call.request.length > 0) done(null, call.request, trailers)
  else done({ code: status.INVALID_ARGUMENT, details: 'nothing to echo – „leer“', metadata: trailers })
}

/** What came of a unary call. */
export interface UnaryOutcome {
  answer: Buffer | undefined
  head: Metadata
  status: StatusObject
}

export class EchoClient {
  readonly client: Client

  /** @param hostname the site's, in TLS and in `:authority` */
  constructor(port: number, ca: string | Buffer, authority: string, options: ClientOptions = {}) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(ca)), {
      'grpc.ssl_target_name_override': authority.replace(/:\d+$/, ''),
      'grpc.default_authority': authority,
      // each client has a connection of its own
      'grpc.use_local_subchannel_pool': 1,
      ...options,
    })
  }

  /** @throws nothing: a failure is in the status */
  unary(request: Buffer, metadata: Metadata = new Metadata()): Promise<UnaryOutcome> {
    const { path, requestSerialize, responseDeserialize } = METHODS.unary
    return new Promise((resolve) => {
      let answer: Buffer | undefined
      let head = new Metadata()
      const call = this.client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        (_, value) => {
          answer = value
        },
      )
      call.on('metadata', (came: Metadata) => {
        head = came
      })
      call.on('status', (came: StatusObject) => resolve({ answer, head, status: came }))
    })
  }

  stream(metadata: Metadata = new Metadata()): ClientDuplexStream<Buffer, Buffer> {
    const { path, requestSerialize, responseDeserialize } = METHODS.stream
    return this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata)
  }

  /** @param count the number of messages that come */
  flood(count: number): ClientReadableStream<Buffer> {
    const { path, requestSerialize, responseDeserialize } = METHODS.flood
    const request = Buffer.alloc(4)
    request.writeUInt32BE(count)
    return this.client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request)
  }

  sink(done: (error: Error | null, bytes?: Buffer) => void): ClientWritableStream<Buffer> {
    const { path, requestSerialize, responseDeserialize } = METHODS.sink
    return this.client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, done)
  }
}
