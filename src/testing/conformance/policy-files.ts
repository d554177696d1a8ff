import assert from 'node:assert/strict'
import { policyPathOf } from '../../core/capability/in-workspace.ts'
import type { Need } from '../../core/capability/need.ts'
import type { PolicyProblem } from '../../core/capability/policy-file.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { Actor } from '../../core/process/record.ts'
import type { RegistrationRequest } from '../../core/process/registration-request.ts'
import { isRefusal } from '../../core/refusal.ts'
import { closeAuditWindows } from '../../kernel/audit.ts'
import type { Edges } from '../../kernel/edges.ts'
import { explainEffect } from '../../kernel/explain.ts'
import { addRule } from '../../kernel/policies.ts'
import { forgetPolicyFile, loadPolicyFile, trustPolicyFile } from '../../kernel/policy-files.ts'
import { openSession } from '../../kernel/sessions.ts'
import { type PolicyFileFound, Workspaces } from '../../kernel/workspaces.ts'
import { type Behaves, type Bench, refusalOf, times } from './bench.ts'
import { auditedEntries } from './sound.ts'

const tool = (name: string) => ({ kind: 'tool', spec: { tool: name } }) as const

const rule = (effect: Rule['effect'], name: string): Rule => ({
  id: `${effect}-${name}`,
  effect,
  rights: ['execute'],
  resource: `tool:${name}`,
})

/** Policy files of workspaces: loaded into the store by hash before the plan, and compared in it. */
export function policyFiles(behaves: Behaves): void {
  behaves(
    'a file is loaded before the first process of its workspace, and again when it changes',
    async (bench) => {
      const disk = diskOf(bench)
      await openSession(disk.edges, 'host', 's1', null, undefined, '/w/sub')
      disk.write('h1', rule('deny', 'deploy'), rule('allow', 'read'))
      assert.equal(await disk.calls('deploy'), 'denied')
      assert.equal(await disk.calls('other'), 'registered')
      disk.write('h2', rule('deny', 'other'))
      assert.equal(await disk.calls('other'), 'denied')
      // What an earlier version denied counts until a person accepts the new one.
      assert.equal(await disk.calls('deploy'), 'denied')
      const loads = (await auditedEntries(bench.store)).filter(({ action }) => action === 'loadPolicy')
      assert.deepEqual(
        loads.map(({ inputs }) => inputs['hash']),
        ['h1', 'h2'],
      )
      await trustPolicyFile(disk.edges, 'human:ada', disk.file())
      assert.equal(await disk.calls('deploy'), 'registered')
    },
  )

  behaves(
    'a trusted file closes its workspace, also for another kernel and after the file is gone',
    async (bench) => {
      const disk = diskOf(bench)
      await openSession(disk.edges, 'host', 's1', null, undefined, '/w/sub')
      disk.write('h1', rule('allow', 'read'))
      assert.equal(await disk.calls('deploy'), 'registered')
      await trustPolicyFile(disk.edges, 'human:ada', disk.file())
      assert.equal(await disk.calls('deploy'), 'denied')
      assert.equal(await disk.calls('read'), 'registered')
      const other = diskOf(bench, bench.edgesOver(await bench.open()))
      assert.equal(await other.calls('deploy'), 'denied')
      disk.remove()
      assert.equal(await disk.calls('deploy'), 'denied')
      await forgetPolicyFile(disk.edges, 'human:ada', '/w')
      assert.equal(await disk.calls('deploy'), 'registered')
    },
  )

  behaves(
    'a file that cannot be used refuses everything, unless there is a good version of it',
    async (bench) => {
      const disk = diskOf(bench)
      await openSession(disk.edges, 'host', 's1', null, undefined, '/w/sub')
      disk.break('h1', { line: 7, message: 'It needs a colon here.', remedy: 'Correct the JSON.' })
      assert.equal(await disk.calls('read'), 'policy_invalid')
      const [denial] = await auditedEntries(bench.store)
      assert.equal(denial?.decision, 'denied')
      assert.ok(denial.reason?.includes('/w/.reeve/policy.json, line 7'))
      disk.write('h2', rule('deny', 'deploy'))
      assert.equal(await disk.calls('deploy'), 'denied')
      disk.break('h3', { line: 1, message: 'It is no JSON.', remedy: 'Correct the JSON.' })
      assert.equal(await disk.calls('deploy'), 'denied')
      assert.equal(await disk.calls('read'), 'registered')
    },
  )

  behaves('the host is not bound, nor a session that works elsewhere', async (bench) => {
    const disk = diskOf(bench)
    await openSession(disk.edges, 'host', 's1', null)
    await openSession(disk.edges, 'host', 's2', null, undefined, '/w')
    disk.write('h1', rule('deny', 'deploy'))
    assert.equal(await disk.calls('deploy', 'host'), 'registered')
    assert.equal(await disk.calls('deploy', 'session:s1'), 'registered')
    assert.equal(await disk.calls('deploy', 'session:s2'), 'denied')
  })

  behaves('a session stays bound to its folder after a link to it was changed', async (bench) => {
    const disk = diskOf(bench)
    disk.link('/link', '/w/sub')
    await openSession(disk.edges, 'host', 's1', null, undefined, '/link')
    disk.write('h1', rule('deny', 'deploy'))
    assert.equal(await disk.calls('deploy'), 'denied')
    disk.link('/link', '/elsewhere')
    assert.equal(await disk.calls('deploy'), 'denied')
    // Also if the folder itself was moved, and is a link by now.
    disk.link('/w/sub', '/elsewhere')
    assert.equal(await disk.calls('deploy'), 'denied')
  })

  behaves(
    'a process that is registered into a session below is bound by the folder of that one',
    async (bench) => {
      const disk = diskOf(bench)
      await openSession(disk.edges, 'host', 's1', null)
      await openSession(disk.edges, 'host', 'below', null, undefined, '/w', 's1')
      disk.write('h1', rule('deny', 'deploy'))
      assert.equal(await disk.calls('deploy'), 'registered')
      assert.equal(await disk.calls('deploy', 'session:s1', 'below'), 'denied')
    },
  )

  behaves('the folders of a registration are known before its plan, so that it runs once', async (bench) => {
    const { edges } = diskOf(bench)
    const command = { kind: 'command', spec: { run: 'true' } } as const
    await openSession(edges, 'host', 's1', null, undefined, '/x')
    await openSession(edges, 'host', 'below', null, undefined, undefined, 's1')
    const guess = (actor: Actor, request: RegistrationRequest) => edges.workspaces?.guess(actor, request)
    assert.deepEqual(guess('session:below', { ...command, cwd: '/y' }), ['/x', '/y'])
    assert.deepEqual(guess('session:none', command), ['.'])
    const { pid } = (await bench.register({ ...command, cwd: '/y' }, { actor: 'session:s1' }, edges)).record
    assert.deepEqual(guess(`process:${pid}`, { ...command, parent: pid }), ['/x', '/y'])
  })

  behaves('an explanation counts the folders of the sessions above, as the gate does', async (bench) => {
    const disk = diskOf(bench)
    await openSession(disk.edges, 'host', 'above', null)
    await openSession(disk.edges, 'host', 's1', null, undefined, undefined, 'above')
    await openSession(disk.edges, 'host', 'above', null, undefined, '/w')
    const { pid } = (await bench.register(tool('other'), { actor: 'session:s1' }, disk.edges)).record
    disk.write('h1', rule('deny', 'deploy'))
    const need: Need = { right: 'execute', resource: { kind: 'tool', path: 'deploy' }, attributes: {} }
    for (const actor of ['session:s1', 'session:above', `process:${pid}`] as const) {
      const explained = await explainEffect(disk.edges, need, { actor, cwd: null })
      assert.equal(!isRefusal(explained) && explained.ruling.type, 'deny', actor)
    }
    disk.break('h2', { line: 7, message: 'It needs a colon here.', remedy: 'Correct the JSON.' })
    const kept = await explainEffect(disk.edges, need, { actor: 'session:s1', cwd: '/w' })
    assert.equal(!isRefusal(kept) && kept.ruling.type, 'deny')
    await forgetPolicyFile(disk.edges, 'human:ada', '/w')
    const broken = await explainEffect(disk.edges, need, { actor: 'session:s1', cwd: null })
    assert.equal(isRefusal(broken) && broken.code, 'policy_invalid')
  })

  behaves('a folder that a session above gets later binds those below it', async (bench) => {
    const disk = diskOf(bench)
    await openSession(disk.edges, 'host', 'above', null)
    await openSession(disk.edges, 'host', 's1', null, undefined, undefined, 'above')
    await openSession(disk.edges, 'host', 'above', null, undefined, '/w')
    disk.write('h1', rule('deny', 'deploy'))
    assert.equal(await disk.calls('deploy'), 'denied')
  })

  behaves(
    'a session keeps its folders and gets further ones: those of the host come first',
    async (bench) => {
      const disk = diskOf(bench)
      const open = (id: string, actor: Actor, folder: string, above?: string) =>
        openSession(disk.edges, actor, id, null, undefined, folder, above)
      await open('s1', 'session:s1', '/own')
      assert.deepEqual((await open('s1', 'host', '/w')).workspaces, ['/w', '/own'])
      assert.deepEqual((await open('s1', 'session:s1', '/later')).workspaces, ['/w', '/own', '/later'])
      assert.deepEqual((await open('s1', 'host', '/own')).workspaces, ['/w', '/own', '/later'])
      disk.write('h1', rule('deny', 'deploy'))
      assert.equal(await disk.calls('deploy'), 'denied')
      const below = await open('below', 'session:s1', '/other', 's1')
      assert.deepEqual(below.workspaces, ['/w', '/own', '/later', '/other'])
      for (const index of times(28)) await open('below', 'host', `/more/${index}`)
      await assert.rejects(open('below', 'host', '/too-many'), { code: 'limit_exceeded' })
    },
  )

  behaves('a file that changes all the time does not fill the audit', async (bench) => {
    const disk = diskOf(bench)
    for (const index of times(120)) {
      disk.write(`h${index}`, rule('deny', 'deploy'))
      await loadPolicyFile(disk.edges, disk.file())
    }
    const loads = (await auditedEntries(bench.store)).filter(({ action }) => action === 'loadPolicy')
    assert.equal(loads.length, 100)
    assert.ok(loads.every(({ actor }) => actor === 'kernel'))
    bench.clock.advance(60_000)
    await closeAuditWindows(disk.edges)
    const [total] = (await auditedEntries(bench.store)).filter(({ decision }) => decision === 'repeated')
    assert.equal(total?.inputs['repeats'], 20)
  })

  behaves('the same folder of two machines has rules of its own on each', async (bench) => {
    const [one, two] = ['m1', 'm2'].map((machine) => diskOf(bench, { ...bench.edges, machine }))
    assert.ok(one && two)
    await openSession(bench.edges, 'host', 's1', null, undefined, '/w')
    one.write('h1', rule('allow', 'read'), rule('deny', 'deploy'))
    two.write('h2', rule('deny', 'other'))
    assert.deepEqual([await one.calls('deploy'), await one.calls('other')], ['denied', 'registered'])
    assert.deepEqual([await two.calls('deploy'), await two.calls('other')], ['registered', 'denied'])
    await trustPolicyFile(one.edges, 'human:ada', one.file())
    assert.deepEqual([await one.calls('other'), await two.calls('read')], ['denied', 'registered'])
    await addRule(bench.edges, 'human:ada', 'workspace:m2:/w', (id) => ({ ...rule('deny', 'read'), id }))
    assert.deepEqual([await one.calls('read'), await two.calls('read')], ['registered', 'denied'])
    await forgetPolicyFile(one.edges, 'human:ada', '/w')
    assert.equal(await two.calls('other'), 'denied')
  })

  behaves(
    'rules that were stored before folders had a machine bind, and those of files move',
    async (bench) => {
      const old = diskOf(bench)
      await openSession(bench.edges, 'host', 's1', null, undefined, '/w')
      old.write('h1', rule('allow', 'read'))
      await trustPolicyFile(old.edges, 'human:ada', old.file())
      await addRule(bench.edges, 'human:ada', 'workspace:/w', (id) => ({ ...rule('deny', 'deploy'), id }))
      const disk = diskOf(bench, { ...bench.edges, machine: 'm1' })
      assert.equal(await disk.calls('other'), 'denied', 'the file is gone, and its rules are kept')
      disk.write('h1', rule('allow', 'read'))
      assert.deepEqual([await disk.calls('read'), await disk.calls('other')], ['registered', 'denied'])
      assert.equal(await disk.calls('deploy'), 'denied')
      const subjects = (await bench.store.ask({ ask: 'ruleSets', after: null, limit: 10 })).map(
        ({ subject, trusted }) => [subject, trusted],
      )
      assert.deepEqual(subjects, [
        ['file:m1:/w/.reeve/policy.json', true],
        ['workspace:/w', true],
      ])
    },
  )

  behaves('two kernels load one version at once, and it is stored once', async (bench) => {
    const disks = [diskOf(bench), diskOf(bench, bench.edgesOver(await bench.open()))]
    for (const disk of disks) disk.write('h1', rule('deny', 'deploy'))
    const sets = await Promise.all(disks.map((disk) => loadPolicyFile(disk.edges, disk.file())))
    assert.ok(sets.every((set) => !isRefusal(set)))
    const loads = (await auditedEntries(bench.store)).filter(({ action }) => action === 'loadPolicy')
    assert.equal(loads.length, 1)
  })
}

/** A disk with one policy file, that of the workspace /w. */
function diskOf(bench: Bench, over: Edges = bench.edges) {
  let present: PolicyFileFound | null = null
  const links = new Map<string, string>()
  const files = () => (present === null ? [] : [present])
  const put = (hash: string, rules: readonly Rule[], problems: readonly PolicyProblem[]) => {
    present = { folder: '/w', path: policyPathOf('/w'), hash, since: 0, rules, problems }
  }
  const workspaces = new Workspaces({
    look: async (asked) => {
      const folder = links.get(asked) ?? asked
      return { folder, files: folder.startsWith('/w') ? files() : [] }
    },
    broken: [],
  })
  const edges: Edges = { ...over, workspaces }
  return {
    edges,
    write: (hash: string, ...rules: readonly Rule[]) => put(hash, rules, []),
    break: (hash: string, problem: PolicyProblem) => put(hash, [], [problem]),
    link: (from: string, to: string) => links.set(from, to),
    remove: () => {
      present = null
    },
    file: (): PolicyFileFound => {
      assert.ok(present)
      return present
    },
    /** `session`: into which it is registered, if it is not that of the actor. */
    calls: async (name: string, actor: 'host' | `session:${string}` = 'session:s1', session?: string) => {
      const request = { ...tool(name), ...(session === undefined ? {} : { owner: { session } }) }
      const answer = await bench.tryRegister([{ request, actor }], edges)
      return isRefusal(answer) ? refusalOf(answer) : 'registered'
    },
  }
}
