import assert from 'node:assert/strict'
import type { Rule } from '../../core/capability/rule.ts'
import type { Json } from '../../core/json/json.ts'
import type { ObjectRight } from '../../core/object/object.ts'
import type { ViewRequest } from '../../core/object/view.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor } from '../../core/process/record.ts'
import { Objects } from '../../kernel/objects.ts'
import { addRule } from '../../kernel/policies.ts'
import { prune } from '../../kernel/prune.ts'
import { type Behaves, type Bench, codeOf, OUTSIDE, pidOf, repeat } from './bench.ts'
import { bytesOf, hashOf } from './blobs.ts'
import { snapshotOf } from './sound.ts'

/** Versioned objects in the namespaces of processes, and the views and handles that show them. */
export function objects(behaves: Behaves): void {
  const [lead, one, two] = [pidOf('lead'), pidOf('n1'), pidOf('n2')]

  behaves('an object has a version, its content and who wrote it', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    const { version } = await put(bench, lead, 'evidence/tests', 'three tests fail', { tags: ['ci'] })
    assert.deepEqual(version, {
      oid: `${lead}/evidence/tests`,
      version: 1,
      type: 'evidence',
      mutable: false,
      hash: hashOf(bytesOf('three tests fail')),
      bytes: 16,
      mediaType: 'text/plain',
      tags: ['ci'],
      metadata: {},
    })
    const found = await over(bench).get('host', lead, 'evidence/tests')
    assert.deepEqual(found.version, version)
    assert.deepEqual(found.writer, { pid: lead, seq: 2 })
    assert.equal(await bench.store.blobs.sweep(0), 0)
    assert.equal(await textOf(bench, lead, 'evidence/tests'), 'three tests fail')
  })

  behaves('an immutable object never changes, and the same content again changes nothing', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'a', 'first')
    const before = await snapshotOf(bench.store)
    assert.equal((await put(bench, lead, 'a', 'first')).type, 'kept')
    assert.equal(await codeOf(put(bench, lead, 'a', 'second', { expect: 1 })), 'conflict')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('a mutable object changes only from the expected version', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'plan', 'one', { mutable: true })
    for (const expect of [undefined, 0, 2]) {
      const asked = put(bench, lead, 'plan', 'two', expect === undefined ? {} : { expect })
      assert.equal(await codeOf(asked), 'conflict')
    }
    assert.equal((await put(bench, lead, 'plan', 'two', { expect: 1 })).version.version, 2)
    // The answer of the write was lost, and it is repeated.
    assert.equal((await put(bench, lead, 'plan', 'two', { expect: 1 })).type, 'kept')
    const versions = await over(bench).history('host', lead, 'plan')
    assert.deepEqual(
      versions.map(({ version }) => version.version),
      [2, 1],
    )
    assert.equal(await textOf(bench, lead, 'plan', 1), 'one')
    assert.equal(await codeOf(over(bench).get('host', lead, 'plan', { version: 3 })), 'not_found')
  })

  behaves('of writes from the same version at once, one happens', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    const other = new Objects(bench.edgesOver(await bench.open()))
    await repeat(15, async (round) => {
      const name = `plan/${round}`
      await put(bench, lead, name, 'none', { mutable: true })
      const answers = await Promise.all([
        codeOf(put(bench, lead, name, `a${round}`, { expect: 1 })),
        codeOf(put(bench, lead, name, `b${round}`, { expect: 1 }, other)),
      ])
      assert.deepEqual(answers.sort(), ['accepted', 'conflict'])
      assert.equal((await over(bench).get('host', lead, name)).version.version, 2)
    })
  })

  behaves('an ended process writes no objects', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await end(bench, lead)
    assert.equal(await codeOf(put(bench, lead, 'a', 'late')), 'already_ended')
  })

  behaves('a list has each name once, in order, page by page', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    for (const name of ['b', 'a/2', 'a/1', 'a', 'c', 'ab'])
      await put(bench, lead, name, name, { mutable: true })
    await put(bench, lead, 'b', 'again', { expect: 1 })
    await over(bench).release('host', lead, 'c')
    assert.deepEqual(await names(bench, lead), ['a', 'a/1', 'a/2', 'ab', 'b'])
    assert.deepEqual(await names(bench, lead, 'a/'), ['a/1', 'a/2'])
    const page = await over(bench).list('host', lead, { prefix: '', after: null, limit: 2 })
    assert.equal(page.next, 'a/1')
    const rest = await over(bench).list('host', lead, { prefix: '', after: page.next, limit: 9 })
    assert.deepEqual(
      rest.objects.map(({ name, version }) => [name, version.version]),
      [
        ['a/2', 1],
        ['ab', 1],
        ['b', 2],
      ],
    )
  })

  behaves('a released name is free, and its next version has a higher number', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'a', 'first')
    await over(bench).release('host', lead, 'a')
    assert.equal(await codeOf(over(bench).get('host', lead, 'a')), 'not_found')
    assert.equal(await codeOf(over(bench).release('host', lead, 'a')), 'not_found')
    assert.equal((await put(bench, lead, 'a', 'second')).version.version, 2)
  })

  behaves('neither side of a copy sees what the other writes later', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'plan', 'old', { mutable: true })
    await put(bench, lead, 'gone', 'old', { mutable: true })
    await fork(bench, one, { mode: 'copy_on_write' })
    await put(bench, lead, 'plan', 'of the parent', { expect: 1 })
    await put(bench, lead, 'new', 'of the parent')
    assert.equal(await textOf(bench, one, 'plan'), 'old')
    assert.deepEqual(await names(bench, one), ['gone', 'plan'])
    await put(bench, one, 'plan', 'of the fork', { expect: 1 })
    await over(bench).release('host', one, 'gone')
    assert.equal(await textOf(bench, lead, 'plan'), 'of the parent')
    assert.equal(await textOf(bench, one, 'plan'), 'of the fork')
    assert.deepEqual(await names(bench, one), ['plan'])
    assert.deepEqual(await names(bench, lead), ['gone', 'new', 'plan'])
    // A fork of the fork, at the event before its write.
    await fork(bench, two, { mode: 'copy_on_write', at: 1 }, one)
    assert.equal(await textOf(bench, two, 'plan'), 'old')
    assert.deepEqual(
      (await over(bench).history('host', one, 'plan')).map(({ version }) => version.version),
      [2, 1],
    )
  })

  behaves('a read-only view writes no names of its base, and new ones of its own', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'plan', 'old', { mutable: true })
    await fork(bench, one, { mode: 'read_only' })
    assert.equal(await codeOf(put(bench, one, 'plan', 'new', { expect: 1 })), 'denied')
    assert.equal(await codeOf(over(bench).release('host', one, 'plan')), 'denied')
    await put(bench, one, 'result', 'found it')
    // No fork of it gets more.
    await fork(bench, two, { mode: 'copy_on_write' }, one)
    assert.equal(await codeOf(put(bench, two, 'plan', 'new', { expect: 1 })), 'denied')
    assert.deepEqual(await names(bench, two), ['plan', 'result'])
  })

  behaves('a view with roots shows what is below them', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    for (const name of ['plan', 'secret/key', 'evidence/a', 'evidenceb']) await put(bench, lead, name, name)
    await fork(bench, one, { mode: 'copy_on_write', roots: ['plan', 'evidence'] })
    assert.deepEqual(await names(bench, one), ['evidence/a', 'plan'])
    assert.equal(await codeOf(over(bench).get('host', one, 'secret/key')), 'not_found')
    await fork(bench, two, { mode: 'copy_on_write', roots: ['secret', 'evidence/a'] }, one)
    assert.deepEqual(await names(bench, two), ['evidence/a'])
  })

  behaves('a view is as deep as its limit, and no deeper', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'plan', 'old')
    let above = lead
    for (let depth = 1; depth <= 16; depth++) {
      const pid = pidOf(`d${depth}x`)
      await fork(bench, pid, { mode: 'copy_on_write' }, above)
      above = pid
    }
    assert.equal(await textOf(bench, above, 'plan'), 'old')
    const view = { mode: 'copy_on_write' } as const
    const refused = await bench.tryRegister([{ request: { ...OUTSIDE, parent: above, view }, pid: two }])
    assert.ok('code' in refused && refused.code === 'limit_exceeded')
  })

  behaves('a handle gives its rights and no more, and those it was made from limit it', async (bench) => {
    await family(bench)
    await put(bench, lead, 'plan', 'one', { mutable: true })
    assert.equal(await codeOf(over(bench).get(`process:${one}`, lead, 'plan')), 'denied')
    await link(bench, 'host', lead, 'plan', one, ['read', 'link'])
    assert.equal(await textOf(bench, one, 'plan', undefined, `process:${one}`), 'one')
    assert.equal(await codeOf(put(bench, one, 'plan', 'two', { expect: 1 })), 'denied')
    assert.equal(await codeOf(link(bench, 'host', one, 'plan', two, ['read', 'write'])), 'denied')
    await link(bench, 'host', one, 'plan', two, ['read'])
    assert.equal(await textOf(bench, two, 'plan'), 'one')
    assert.equal(await codeOf(link(bench, 'host', two, 'plan', one, ['read'])), 'denied')
    assert.equal(await codeOf(link(bench, 'host', lead, 'plan', two, ['read'])), 'name_in_use')
  })

  behaves('a live handle shows new versions, and writes them if it may', async (bench) => {
    await family(bench)
    await put(bench, lead, 'plan', 'one', { mutable: true })
    await link(bench, 'host', lead, 'plan', one, ['read', 'write'], true)
    await link(bench, 'host', lead, 'plan', two, ['read'])
    await put(bench, lead, 'plan', 'two', { expect: 1 })
    assert.equal(await textOf(bench, one, 'plan'), 'two')
    assert.equal(await textOf(bench, two, 'plan'), 'one')
    await put(bench, one, 'plan', 'three', { expect: 2 })
    const found = await over(bench).get('host', lead, 'plan')
    assert.equal(found.version.version, 3)
    assert.equal(found.writer.pid, one)
    assert.deepEqual((await bench.eventTypes(one)).slice(-1), ['object_written'])
  })

  behaves('a revoked handle is gone with all that were made from it, and never comes back', async (bench) => {
    await family(bench)
    await put(bench, lead, 'plan', 'one', { mutable: true })
    const { handle } = await link(bench, 'host', lead, 'plan', one, ['read', 'link'])
    await link(bench, 'host', one, 'plan', two, ['read'])
    await fork(bench, pidOf('n3'), { mode: 'copy_on_write' }, one)
    assert.equal(await codeOf(over(bench).revoke(`process:${two}`, handle)), 'denied')
    await over(bench).revoke(`process:${lead}`, handle)
    await over(bench).revoke('host', handle)
    for (const pid of [one, two, pidOf('n3')]) {
      assert.equal(await codeOf(over(bench).get('host', pid, 'plan')), 'denied')
      assert.deepEqual(await names(bench, pid), [])
    }
    await fork(bench, pidOf('n4'), { mode: 'copy_on_write', at: (await bench.row(one)).record.revision }, one)
    assert.equal(await codeOf(over(bench).get('host', pidOf('n4'), 'plan')), 'denied')
    assert.equal(await codeOf(over(bench).revoke('host', `h_${'0'.repeat(12)}_1`)), 'not_found')
  })

  behaves('what others hold stays when its process is pruned, with its provenance', async (bench) => {
    await family(bench)
    await put(bench, one, 'result', 'found it')
    await put(bench, one, 'scratch', 'nothing')
    await put(bench, one, 'shared', 'first', { mutable: true })
    await link(bench, 'host', one, 'result', lead, ['read'])
    await end(bench, one)
    assert.equal(await codeOf(link(bench, 'host', one, 'scratch', lead, ['read'])), 'already_ended')
    await prune(bench.edges, { pids: [one] })
    assert.equal(await bench.store.ask({ ask: 'process', pid: one }), null)
    assert.ok((await bench.store.blobs.sweep(0)) >= 1)
    const found = await over(bench).get('host', lead, 'result')
    assert.deepEqual(found.writer, { pid: one, seq: 2 })
    assert.equal(await textOf(bench, lead, 'result'), 'found it')
  })

  behaves('a process is kept while a live one sees its objects', async (bench) => {
    await family(bench)
    await put(bench, one, 'shared', 'first', { mutable: true })
    await put(bench, two, 'base', 'first')
    await link(bench, 'host', one, 'shared', lead, ['read'], true)
    await fork(bench, pidOf('n3'), { mode: 'read_only', of: two })
    for (const pid of [one, two]) await end(bench, pid)
    assert.deepEqual(await prune(bench.edges, { pids: [one, two] }), [])
    await over(bench).release('host', lead, 'shared')
    await end(bench, pidOf('n3'))
    await prune(bench.edges, { pids: [one, two] })
    for (const pid of [one, two]) assert.equal(await bench.store.ask({ ask: 'process', pid }), null)
  })

  behaves('another connection sees the same objects', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'plan', 'one', { mutable: true })
    await fork(bench, one, { mode: 'copy_on_write' })
    const other = new Objects(bench.edgesOver(await bench.open()))
    await put(bench, one, 'plan', 'two', { expect: 1 }, other)
    assert.equal((await over(bench).get('host', one, 'plan')).version.version, 2)
    assert.equal((await other.get('host', lead, 'plan')).version.version, 1)
  })

  behaves('a merge takes over what changed in the fork alone, and reports each conflict', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    for (const name of ['mine', 'theirs', 'both', 'same', 'gone'])
      await put(bench, lead, name, 'old', { mutable: true })
    await put(bench, lead, 'fixed', 'old')
    await fork(bench, one, { mode: 'copy_on_write' })
    for (const name of ['theirs', 'both', 'same', 'gone'])
      await put(bench, one, name, `of ${name}`, { expect: 1 })
    await put(bench, one, 'new', 'new')
    await put(bench, one, 'taken', 'of the fork')
    await over(bench).release('host', one, 'mine')
    await put(bench, lead, 'both', 'of the parent', { expect: 1 })
    await put(bench, lead, 'same', 'of same', { expect: 1 })
    await put(bench, lead, 'taken', 'of the parent')
    await over(bench).release('host', lead, 'gone')
    assert.equal(await codeOf(over(bench).merge('host', lead, one, 'all_new')), 'not_available')
    await end(bench, one)
    const before = await names(bench, lead)
    const none = await over(bench).merge('host', lead, one, 'none')
    assert.deepEqual([none.merged, none.conflicts], [[], []])
    assert.deepEqual(await names(bench, lead), before)
    assert.deepEqual(await over(bench).merge('host', lead, one, 'all_new'), {
      merged: [
        { name: 'new', version: 1 },
        { name: 'theirs', version: 2 },
      ],
      skipped: [
        { name: 'mine', reason: 'released' },
        { name: 'same', reason: 'same' },
      ],
      conflicts: [
        { name: 'both', reason: 'changed' },
        { name: 'gone', reason: 'changed' },
        { name: 'taken', reason: 'taken' },
      ],
    })
    assert.equal(await textOf(bench, lead, 'theirs'), 'of theirs')
    assert.equal(await textOf(bench, lead, 'both'), 'of the parent')
    assert.deepEqual((await over(bench).get('host', lead, 'theirs')).writer.pid, one)
    const again = await over(bench).merge('host', lead, one, 'all_new')
    assert.deepEqual(again.merged, [])
    assert.ok(again.skipped.some(({ name, reason }) => name === 'new' && reason === 'same'))
    // What was merged outlives the fork.
    await prune(bench.edges, { pids: [one] })
    await bench.store.blobs.sweep(0)
    assert.equal(await textOf(bench, lead, 'new'), 'new')
  })

  behaves('a merge of results takes what the process ended with', async (bench) => {
    await family(bench)
    await put(bench, one, 'result', 'found it')
    await put(bench, one, 'scratch', 'nothing')
    await end(bench, one, { object: `${one}/result` })
    const report = await over(bench).merge('host', lead, one, 'results')
    assert.deepEqual(report.merged, [{ name: 'result', version: 1 }])
    assert.deepEqual(report.skipped, [{ name: 'scratch', reason: 'policy' }])
    assert.equal(await codeOf(over(bench).merge('host', two, one, 'results')), 'denied')
    await link(bench, 'host', one, 'result', two, ['read'])
  })

  behaves('a name that a view may not write is a conflict of its merge', async (bench) => {
    await bench.register(OUTSIDE, { pid: lead })
    await put(bench, lead, 'plan', 'old', { mutable: true })
    await fork(bench, one, { mode: 'read_only' })
    await bench.register({ ...OUTSIDE, parent: one }, { pid: two })
    await put(bench, two, 'plan', 'other')
    await end(bench, two)
    const report = await over(bench).merge('host', one, two, 'all_new')
    assert.deepEqual(report.conflicts, [{ name: 'plan', reason: 'taken' }])
  })

  behaves('rules let a process act in the view of another one, or deny it its own', async (bench) => {
    await family(bench)
    await put(bench, one, 'plan/a', 'text')
    await put(bench, one, 'secret', 'text')
    const read = (actor: Pid, pid: Pid, name: string) =>
      codeOf(over(bench).get(`process:${actor}`, pid, name))
    assert.equal(await read(two, one, 'plan/a'), 'denied')
    assert.equal(await read(lead, one, 'plan/a'), 'denied')
    const { edges } = bench
    const resource = `object:${lead}/${one}`
    await addRule(edges, 'host', `process:${two}`, given('allow', `${resource}/plan/**`))
    await addRule(edges, 'host', `process:${one}`, given('deny', `${resource}/secret`))
    assert.equal(await read(two, one, 'plan/a'), 'accepted')
    assert.equal(await read(two, one, 'secret'), 'denied')
    assert.equal(await read(one, one, 'secret'), 'denied')
    assert.equal(await read(one, one, 'plan/a'), 'accepted')
    await addRule(edges, 'host', `process:${lead}`, given('allow', `object:${lead}/**`))
    assert.equal(await read(lead, one, 'secret'), 'accepted')
  })

  async function family(bench: Bench): Promise<void> {
    await bench.register(OUTSIDE, { pid: lead })
    for (const pid of [one, two]) await bench.register({ ...OUTSIDE, parent: lead }, { pid })
  }

  async function fork(bench: Bench, pid: Pid, view: ViewRequest, parent: Pid = lead): Promise<void> {
    await bench.register({ ...OUTSIDE, parent, view }, { pid })
  }
}

interface Given {
  readonly mutable?: boolean
  readonly expect?: number
  readonly tags?: readonly string[]
}

function over(bench: Bench): Objects {
  return new Objects(bench.edges)
}

function put(bench: Bench, pid: Pid, name: string, text: string, given: Given = {}, on = over(bench)) {
  const content = bytesOf(text)
  const blob = { hash: hashOf(content), bytes: content.length, mediaType: 'text/plain', content }
  const isNew = given.expect === undefined ? { type: 'evidence' as const } : {}
  return on.put('host', pid, { name, ...isNew, ...given, ...blob })
}

async function textOf(bench: Bench, pid: Pid, name: string, version?: number, actor: Actor = 'host') {
  const found = await over(bench).get(actor, pid, name, version === undefined ? {} : { version })
  const bytes = await bench.store.blobs.get(found.version.hash)
  assert.ok(bytes)
  return new TextDecoder().decode(bytes)
}

async function names(bench: Bench, pid: Pid, prefix = ''): Promise<string[]> {
  const { objects: found } = await over(bench).list('host', pid, { prefix, after: null, limit: 100 })
  return found.map(({ name }) => name)
}

function link(
  bench: Bench,
  actor: Actor,
  pid: Pid,
  name: string,
  to: Pid,
  rights: readonly ObjectRight[],
  live = false,
) {
  return over(bench).link(actor, pid, { name, to, as: name, rights, live })
}

function given(effect: 'allow' | 'deny', resource: string) {
  return (id: string): Rule => ({ id, effect, rights: ['read'], resource })
}

function end(bench: Bench, pid: Pid, result: Json = null) {
  const ending = { status: 'completed', result } as const
  return bench.performed('appended', { type: 'end', pid, ending, replayKey: 'end', fence: null })
}
