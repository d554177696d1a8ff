import { runConformanceTests } from '@durable-streams/server-conformance-tests'

/** The public suite, as main.ts runs it. It knows nothing of tokens: each of its requests is given the one there is. */
const { STREAMS_URL: baseUrl = '', STREAMS_TOKEN: token = '' } = process.env
const plain = globalThis.fetch
globalThis.fetch = (input, init) => {
  const request = new Request(input, init)
  request.headers.set('authorization', `Bearer ${token}`)
  return plain(request)
}

runConformanceTests({ baseUrl, longPollTimeoutMs: 25_000 })
