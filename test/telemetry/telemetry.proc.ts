import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import type { UpOptions } from '../../src/daemon/up.ts'
import type { ReeveVerbs } from '../../src/verbs/reeve.ts'
import { CommandLine } from '../cli/command-line.ts'
import { endForCertain } from '../command/os-processes.ts'
import { TempReeve } from '../temp-reeve.ts'
import { plain, TestCollector } from './test-collector.ts'

const told = (collector: TestCollector): UpOptions => ({
  flags: { otelEndpoint: collector.endpoint, otelIntervalMs: '100' },
})

async function ended(reeve: ReeveVerbs, name: string, run: string): Promise<string> {
  const { record } = await reeve.spawn({ kind: 'command', name, spec: { run } })
  await reeve.wait({ pid: record.pid })
  return record.pid
}

test('every ended process is one span below its parent, with its outcome and its events', async () => {
  const collector = await TestCollector.open()
  const { reeve } = await new TempReeve().up(told(collector))
  const parent = await reeve.spawn({ kind: 'command', name: 'parent', spec: { run: 'exec sleep 1000' } })
  const { pid } = parent.record
  const child = await reeve.spawn({ kind: 'command', name: 'child', parent: pid, spec: { run: 'exit 7' } })
  await reeve.wait({ pid: child.record.pid })
  await reeve.signal({ pid, signal: 'pause' })
  await reeve.signal({ pid, signal: 'resume' })
  await reeve.kill({ pid, reason: 'enough' })

  const outer = await collector.until(() => collector.span('parent'))
  const inner = await collector.until(() => collector.span('child'))
  expect(outer.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(outer.spanId).toMatch(/^[0-9a-f]{16}$/)
  expect(outer).not.toHaveProperty('parentSpanId')
  expect(inner).toMatchObject({ traceId: outer.traceId, parentSpanId: outer.spanId })
  expect(inner.attributes).toMatchObject({
    'reeve.pid': child.record.pid,
    'reeve.kind': 'command',
    'reeve.status': 'failed',
    'process.exit.code': 7,
  })
  expect(inner.status).toEqual({ code: 2, message: 'exit code 7' })
  expect(outer.attributes).toMatchObject({ 'reeve.status': 'cancelled', 'reeve.reason': 'killed' })
  expect(outer.status).toEqual({ code: 0 })
  expect(outer.events.map(({ name }) => name)).toEqual([
    'started',
    'program_started',
    'child_registered',
    'paused',
    'resumed',
    'stop_requested',
  ])
  expect(outer.events.at(-1)?.attributes).toMatchObject({ 'reeve.how': 'kill', 'reeve.reason': 'enough' })
  const { createdAt, outcome } = await reeve.show({ pid })
  expect(outer.startTimeUnixNano).toBe(`${createdAt}000000`)
  expect(outer.endTimeUnixNano).toBe(`${outcome?.endedAt}000000`)
})

test('a tree that was started within a valid trace is part of it, and any other tree is a trace of its own', async () => {
  const collector = await TestCollector.open()
  const { reeve } = await new TempReeve().up(told(collector))
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const begin = async (name: string, traceparent: string) => {
    const causedBy = { traceparent }
    const parent = await reeve.spawn({ kind: 'command', name, causedBy, spec: { run: 'exec sleep 1000' } })
    const { pid } = parent.record
    const spec = { run: 'true' }
    const child = await reeve.spawn({ kind: 'command', name: `${name}-child`, parent: pid, spec })
    await reeve.wait({ pid: child.record.pid })
    await reeve.kill({ pid })
    const outer = await collector.until(() => collector.span(name))
    return { outer, inner: await collector.until(() => collector.span(`${name}-child`)) }
  }
  const { outer, inner } = await begin('traced', `00-${trace}-${span}-01`)
  expect(outer).toMatchObject({ traceId: trace, parentSpanId: span })
  expect(inner).toMatchObject({ traceId: trace, parentSpanId: outer.spanId })
  const own = await begin('own', `00-${'0'.repeat(32)}-${span}-01`)
  expect(own.outer.traceId).not.toBe('0'.repeat(32))
  expect(own.outer).not.toHaveProperty('parentSpanId')
  expect(own.inner.traceId).toBe(own.outer.traceId)
})

test('the span of a workflow has its last steps, without their values', async () => {
  const collector = await TestCollector.open()
  const { reeve } = await new TempReeve().up(told(collector))
  await reeve.workflow('count', async (ctx) => {
    for (let at = 0; at < 200; at++) await ctx.step(`number ${at}`, () => 'hunter2')
  })
  const { record } = await reeve.spawn({ kind: 'workflow', name: 'counting', spec: { workflow: 'count' } })
  await reeve.wait({ pid: record.pid })
  const span = await collector.until(() => collector.span('counting'))
  expect(span.events).toHaveLength(128)
  expect(span.droppedEventsCount).toBe(73)
  expect(span.events.at(-1)).toMatchObject({
    name: 'step_ended',
    attributes: {
      'reeve.stepIndex': 200,
      'reeve.kind': 'step',
      'reeve.name': 'number 199',
      'reeve.how': 'done',
    },
  })
  expect(collector.requests.map(({ text }) => text).join()).not.toContain('hunter')
})

test('a span has neither a command line nor a value that was sent', async () => {
  const collector = await TestCollector.open()
  const { reeve } = await new TempReeve().up(told(collector))
  const { record } = await reeve.spawn({
    kind: 'command',
    name: 'careful',
    spec: { run: 'read x; : hunter2', stdin: 'pipe', env: { KEY: 'hunter3' } },
  })
  await reeve.send({ pid: record.pid, name: 'password', value: 'hunter4' })
  await reeve.write({ pid: record.pid, text: 'hunter5\n' })
  await reeve.wait({ pid: record.pid })
  const span = await collector.until(() => collector.span('careful'))
  expect(span.name).toBe('command careful')
  expect(span.events.map(({ name }) => name)).toContain('signal.password')
  expect(collector.requests.map(({ text }) => text).join()).not.toContain('hunter')
})

test('a secret in a reason is masked in a span, too', async () => {
  const collector = await TestCollector.open()
  const { reeve } = await new TempReeve().up(told(collector))
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const { record } = await reeve.spawn({ kind: 'command', name: 'leaky', spec: { run: 'exec sleep 1000' } })
  await reeve.kill({ pid: record.pid, reason: `rotated ${secret}` })
  const span = await collector.until(() => collector.span('leaky'))
  expect(String(span.events.at(-1)?.attributes['reeve.reason'])).toContain('rotated')
  expect(collector.requests.map(({ text }) => text).join()).not.toContain(secret)
})

test('only the names of the headers for a collector are shown', async () => {
  const line = new CommandLine()
  const env = { REEVE_OTEL_HEADERS: 'x-key=hunter2,authorization=Bearer%20hunter3' }
  const { stdout } = await line.run(['config', '--json'], { env })
  expect(stdout).toContain('x-key=***,authorization=***')
  expect(stdout).not.toContain('hunter')
})

test('metrics count processes by status, spawns, ends, output and requests', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const { reeve } = await temp.up(told(collector))
  await ended(reeve, 'a', 'printf 12345')
  await ended(reeve, 'b', 'exit 1')
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'printf 1234567; exec sleep 1000' },
  })
  const other = await reeve.spawn({ kind: 'command', spec: { run: 'exec sleep 1000' } })
  await reeve.signal({ pid: other.record.pid, signal: 'pause' })
  const client = await connect({ home: temp.home.folder })
  await client.show({ pid: record.pid })
  await client.show({ pid: 'nobody' }).catch(() => undefined)
  await client.close()
  await collector.until(
    () => collector.metric('reeve.output')[''] === 12 && 'show 404' in collector.metric('reeve.api.requests'),
  )
  await collector.nextRound()
  expect(collector.metric('reeve.processes')).toEqual({
    queued: 0,
    running: 1,
    waiting: 0,
    paused: 1,
    stopping: 0,
  })
  expect(collector.metric('reeve.process.spawns')).toEqual({ command: 4 })
  expect(collector.metric('reeve.process.ends')).toEqual({ completed: 1, failed: 1 })
  expect(collector.metric('reeve.api.requests')).toMatchObject({ 'show 200': 1, 'show 404': 1 })
  expect(collector.metric('process.memory.usage')['']).toBeGreaterThan(1_000_000)
  await reeve.kill({ pid: other.record.pid })
  await collector.until(() => collector.metric('reeve.processes')['paused'] === 0)
})

test('requests to the collector identify the daemon, and have the configured headers', async () => {
  const collector = await TestCollector.open()
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=se%20cret, x-other=1',
    OTEL_SERVICE_NAME: 'our-agents',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,broken',
  }
  const daemon = await new TempReeve().up({ env, flags: { otelIntervalMs: '100' } })
  const { path, headers, text } = await collector.until(() => collector.requests[0])
  expect(path).toBe('/v1/metrics')
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-key': 'se cret',
    'x-other': '1',
  })
  const [{ resource }] = JSON.parse(text).resourceMetrics
  expect(plain(resource.attributes)).toMatchObject({
    'service.name': 'our-agents',
    'service.instance.id': daemon.reeve.kernel,
    'deployment.environment.name': 'test',
  })
})

test('nothing is sent without an endpoint, to a gRPC endpoint, or with telemetry disabled', async () => {
  const collector = await TestCollector.open()
  const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }
  const environments = [
    {},
    { ...standard, OTEL_SDK_DISABLED: 'true' },
    { ...standard, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  ]
  for (const env of environments) {
    const temp = new TempReeve()
    const daemon = await temp.up({ env, flags: { otelIntervalMs: '100' } })
    await ended(daemon.reeve, 'a', 'exit 0')
    await daemon.close()
    expect(existsSync(temp.home.telemetry)).toBe(false)
  }
  expect(collector.requests).toEqual([])
})

test('a daemon that stops exports the processes that end with it, and the next one exports none twice', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const flags = { otelEndpoint: collector.endpoint, otelIntervalMs: '3600000' }
  const first = await temp.up({ flags })
  await collector.until(() => collector.requests.length > 0)
  await ended(first.reeve, 'one', 'exit 0')
  await first.reeve.spawn({
    kind: 'command',
    name: 'two',
    lifetime: 'daemon',
    spec: { run: 'exec sleep 1000' },
  })
  await first.close()
  expect(collector.spans.map(({ name }) => name)).toEqual(['command one', 'command two'])
  const second = await temp.up(told(collector))
  await ended(second.reeve, 'three', 'exit 0')
  await collector.until(() => collector.span('three'))
  await collector.nextRound()
  expect(collector.spans.map(({ name }) => name)).toEqual(['command one', 'command two', 'command three'])
})

test('after kill -9 of the daemon every span is exported once, also of processes that ended meanwhile', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const env = { REEVE_OTEL_ENDPOINT: collector.endpoint, REEVE_OTEL_INTERVAL_MS: '100' }
  const daemon = await temp.start(['--listen', '127.0.0.1:0'], env)
  const client = await connect({ home: temp.home.folder })
  await ended(client, 'before', 'exit 0')
  const { record } = await client.spawn({
    kind: 'command',
    name: 'meanwhile',
    spec: { run: 'exec sleep 1000' },
  })
  await collector.until(() => collector.span('before'))
  await collector.nextRound()
  await daemon.kill()
  await client.close()
  const { osPid = 0, startTime = '' } = record.program ?? {}
  await endForCertain({ osPid, startTime: startTime ?? '' })
  const { reeve } = await temp.up(told(collector))
  await ended(reeve, 'after', 'exit 0')
  await collector.until(() => collector.span('after'))
  await collector.nextRound()
  expect(collector.spans.map(({ name }) => name)).toEqual([
    'command before',
    'command meanwhile',
    'command after',
  ])
})

test('nothing waits for an unavailable collector; when it is back it gets everything, once', async () => {
  const collector = await TestCollector.open()
  await collector.close()
  const temp = new TempReeve()
  const { reeve } = await temp.up(told(collector))
  for (const name of ['one', 'two', 'three']) await ended(reeve, name, 'exit 0')
  await collector.listen()
  await collector.until(() => collector.span('three'))
  await collector.nextRound()
  expect(collector.spans.map(({ name }) => name)).toEqual(['command one', 'command two', 'command three'])
  const warned = temp.logged.filter(({ words }) => words.includes('cannot be reached'))
  expect(warned).toHaveLength(1)
  expect(temp.logged.some(({ words }) => words === 'the collector accepts telemetry again')).toBe(true)
})

test('a busy collector is retried; documents that it rejects are dropped, and the rest follows', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const asked: string[] = []
  const answering = (status: number) => (path: string) => {
    asked.push(path)
    return path === '/v1/traces' ? status : 200
  }
  collector.answer = answering(503)
  const { reeve } = await temp.up(told(collector))
  await ended(reeve, 'busy', 'exit 0')
  await collector.until(() => asked.filter((path) => path === '/v1/traces').length >= 2)
  collector.answer = answering(200)
  await collector.until(() => collector.span('busy'))

  collector.answer = answering(400)
  asked.length = 0
  await ended(reeve, 'refused', 'exit 0')
  await collector.until(() => asked.includes('/v1/traces'))
  await collector.nextRound()
  collector.answer = answering(200)
  await ended(reeve, 'next', 'exit 0')
  await collector.until(() => collector.span('next'))
  expect(collector.spans.map(({ name }) => name)).toEqual(['command busy', 'command next'])
  expect(temp.logged.some(({ words }) => words.includes('rejects telemetry'))).toBe(true)
})

test('a collector that never answers delays neither processes nor the stop of the daemon', async () => {
  const collector = await TestCollector.open()
  const heard = Promise.withResolvers<void>()
  collector.answer = () => {
    heard.resolve()
    return 'never'
  }
  const temp = new TempReeve()
  const daemon = await temp.up(told(collector))
  await heard.promise
  await ended(daemon.reeve, 'one', 'exit 0')
  await daemon.close()
  collector.answer = () => 200
  await temp.up(told(collector))
  await collector.until(() => collector.span('one'))
})

test('many ends arrive in batches, all of them, each once', async () => {
  const collector = await TestCollector.open()
  const { reeve } = await new TempReeve().up(told(collector))
  const pids = await Promise.all(
    Array.from({ length: 150 }, async (_, at) => {
      const { record } = await reeve.spawn({
        kind: 'external',
        spec: { description: 'a thing' },
        name: `n${at}`,
      })
      await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'end' })
      return record.pid
    }),
  )
  await collector.until(() => collector.spans.length >= 150)
  await collector.nextRound()
  expect(collector.spans.map(({ attributes }) => attributes['reeve.pid']).toSorted()).toEqual(pids.toSorted())
  for (const { text } of collector.requests)
    expect(text.match(/"spanId"/g)?.length ?? 0).toBeLessThanOrEqual(64)
})
