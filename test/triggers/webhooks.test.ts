import { expect, test } from 'vitest'
import { NEW_STORES } from '../crash/new-stores.ts'
import { tempStore } from '../temp-folder.ts'
import { deliver, NOTE, post, serveHooks, signedHeaders } from './served-hooks.ts'

const DELIVERIES = 1_000
/** The rest repeats ids that were sent before. */
const DIFFERENT = 700
const AT_ONCE = 40

test.each(NEW_STORES)(
  'of a storm of deliveries with repeated ids each runs once, through two servers on one store: %s',
  async (_, newStore) => {
    const store = await newStore()
    const ran: string[] = []
    const servers = [await serveHooks(store, ran), await serveHooks(store, ran)]
    const [first] = servers
    const { secret } = (await first?.reeve.addTrigger({
      trigger: 'storm',
      source: { type: 'webhook', filter: { wanted: true }, maxPerMinute: 60_000 },
      overlap: 'allow',
      process: NOTE,
    })) ?? { secret: null }
    const verdicts: Record<string, number> = {}
    const pids = new Set<unknown>()
    let next = 0
    const send = async () => {
      for (let number = next++; number < DELIVERIES; number = next++) {
        const n = number % DIFFERENT
        const { url = '' } = servers[number % servers.length] ?? {}
        const { status, body } = await deliver(url, 'storm', secret ?? '', {
          id: `d${n}`,
          n,
          wanted: n % 10 !== 0,
        })
        // The store is busy, or the queue is full: the sender tries again.
        if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
        verdicts[String(body['verdict'])] = (verdicts[String(body['verdict'])] ?? 0) + 1
        if ('pid' in body) pids.add(body['pid'])
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, send))
    expect(verdicts['duplicate']).toBe(DELIVERIES - DIFFERENT)
    expect(verdicts['filtered']).toBe(DIFFERENT / 10)
    expect((verdicts['started'] ?? 0) + (verdicts['queued'] ?? 0)).toBe(DIFFERENT - DIFFERENT / 10)
    expect(pids.size).toBe(DIFFERENT - DIFFERENT / 10)
    await expect
      .poll(async () => (await first?.reeve.trigger({ trigger: 'storm' }))?.running.length, {
        timeout: 120_000,
      })
      .toBe(0)
    const inputs = ran.map((text) => JSON.parse(text).trigger.body.n as number).sort((a, b) => a - b)
    const wanted = Array.from({ length: DIFFERENT }, (_each, n) => n).filter((n) => n % 10 !== 0)
    expect(inputs).toEqual(wanted)
    expect((await first?.reeve.trigger({ trigger: 'storm' }))?.counts).toEqual({
      started: DIFFERENT - DIFFERENT / 10,
      ...{ filtered: DIFFERENT / 10, duplicates: DELIVERIES - DIFFERENT, skipped: 0, failed: 0 },
    })
  },
  300_000,
)

async function served(source: { readonly maxBytes?: number; readonly maxPerMinute?: number } = {}) {
  const { reeve, url, ran } = await serveHooks(tempStore())
  const { secret } = await reeve.addTrigger({
    trigger: 'hook',
    source: { type: 'webhook', ...source },
    process: NOTE,
  })
  return { reeve, url, ran, secret: secret ?? '' }
}

test('a request that is not signed right is refused as if there were no such webhook', async () => {
  const { reeve, url, ran, secret } = await served()
  const body = '{"n":1}'
  const other = `whsec_${'a'.repeat(40)}`
  const right = signedHeaders(secret, body, { id: 'd1' })
  const refused = [
    await post(url, 'hook', signedHeaders(other, body), body),
    await post(url, 'hook', right, '{"n":2}'),
    await post(url, 'hook', { ...right, 'webhook-id': 'd2' }, body),
    await post(
      url,
      'hook',
      { ...right, 'webhook-timestamp': String(Number(right['webhook-timestamp']) + 1) },
      body,
    ),
    await post(url, 'unknown', right, body),
    await post(url, 'unknown', signedHeaders(other, body), body),
  ]
  for (const answer of refused) expect(answer).toEqual(refused[0])
  expect(refused[0]).toMatchObject({
    status: 401,
    body: { code: 'unauthorized', details: { reason: 'signature' } },
  })
  expect(JSON.stringify(refused)).not.toContain('d1')
  expect(await post(url, 'hook', right, body)).toMatchObject({ status: 200, body: { verdict: 'started' } })
  await expect
    .poll(async () =>
      (await reeve.deliveries({ trigger: 'hook' })).deliveries.map(({ verdict }) => verdict).sort(),
    )
    .toEqual(['rejected', 'started'])
  await expect.poll(() => ran.length).toBe(1)
})

test('a request that is too old, too new or without its headers is refused before the webhook is looked up', async () => {
  const { reeve, url, secret } = await served()
  const now = Math.floor(Date.now() / 1_000)
  for (const timestamp of [now - 400, now + 400]) {
    const headers = signedHeaders(secret, '{}', { timestamp })
    const known = await post(url, 'hook', headers, '{}')
    expect(known).toMatchObject({ status: 401, body: { details: { reason: 'timestamp' } } })
    expect(await post(url, 'unknown', headers, '{}')).toEqual(known)
  }
  for (const missing of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { [missing]: _, ...headers } = signedHeaders(secret, '{}')
    expect(await post(url, 'hook', headers, '{}')).toMatchObject({
      status: 401,
      body: { details: { reason: 'headers' } },
    })
  }
  expect((await reeve.trigger({ trigger: 'hook' })).counts.started).toBe(0)
})

test('a body that is too large or no JSON, and a delivery too many, are refused and may come again', async () => {
  const { reeve, url, secret } = await served({ maxBytes: 100, maxPerMinute: 3 })
  const send = (body: string, id = 'd1') => post(url, 'hook', signedHeaders(secret, body, { id }), body)
  expect(await send(JSON.stringify('x'.repeat(200)))).toMatchObject({
    status: 413,
    body: { code: 'body_too_large', details: { mostBytes: 100 } },
  })
  expect(await send('no json')).toMatchObject({ status: 400, body: { code: 'bad_request' } })
  expect(await send('{}')).toMatchObject({ status: 200, body: { verdict: 'started' } })
  expect(await send('{}', 'd2')).toMatchObject({ status: 429, body: { code: 'too_many_requests' } })
  const reasons = (await reeve.deliveries({ trigger: 'hook' })).deliveries.map(({ reason }) => reason)
  expect(reasons.toReversed()).toEqual(['too_large', 'body', null, 'too_fast'])
  const huge = JSON.stringify('x'.repeat(200_000))
  expect(await post(url, 'hook', signedHeaders(secret, huge), huge)).toMatchObject({ status: 413 })
})

test('a paused trigger tells its sender to try again, and the delivery runs after it is resumed', async () => {
  const { reeve, url, secret, ran } = await served()
  await reeve.pauseTrigger({ trigger: 'hook', note: 'holidays' })
  expect(await deliver(url, 'hook', secret, { id: 'd1' })).toMatchObject({
    status: 409,
    body: { code: 'busy' },
  })
  expect((await reeve.deliveries({ trigger: 'hook' })).deliveries).toMatchObject([
    { verdict: 'rejected', reason: 'paused' },
  ])
  await reeve.resumeTrigger({ trigger: 'hook' })
  expect(await deliver(url, 'hook', secret, { id: 'd1' })).toMatchObject({
    status: 200,
    body: { verdict: 'started' },
  })
  expect(await deliver(url, 'hook', secret, { id: 'd1' })).toMatchObject({
    status: 200,
    body: { verdict: 'duplicate', first: 'started' },
  })
  await expect.poll(() => ran.length).toBe(1)
})

test('the secret is in the answer that makes it, and nowhere else', async () => {
  const { reeve, url, secret } = await served()
  const again = { trigger: 'hook', source: { type: 'webhook' }, process: NOTE } as const
  expect((await reeve.addTrigger(again)).secret).toBeNull()
  await deliver(url, 'hook', secret, { id: 'd1' })
  const shown = JSON.stringify([
    await reeve.triggers(),
    await reeve.trigger({ trigger: 'hook' }),
    await reeve.deliveries({ trigger: 'hook' }),
    await reeve.list({ filter: { status: 'any' } }),
    await reeve.audit(),
  ])
  expect(shown).not.toContain(secret)
  const rotated = await reeve.editTrigger({ trigger: 'hook', rotateSecret: true })
  expect(rotated.secret).toMatch(/^whsec_/)
  expect((await deliver(url, 'hook', secret, { id: 'd2' })).status).toBe(401)
  expect((await deliver(url, 'hook', rotated.secret ?? '', { id: 'd2' })).status).toBe(200)
  const { record } = await reeve.spawn({
    kind: 'tool',
    spec: { tool: 'note', input: { text: rotated.secret } },
  })
  expect(JSON.stringify(await reeve.show({ pid: record.pid }))).not.toContain(rotated.secret)
})
