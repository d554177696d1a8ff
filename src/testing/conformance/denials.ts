import assert from 'node:assert/strict'
import { AUDIT_WINDOW_MS } from '../../core/audit/window.ts'
import { charge } from '../../kernel/charge.ts'
import { putEnvironment } from '../../kernel/environments.ts'
import { grant, revoke, transfer } from '../../kernel/grants.ts'
import { performAll, performEach } from '../../kernel/perform.ts'
import { endSession, markDeleted, openSession, openTurn, touchSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, codeOf, OUTSIDE, pidOf, refusalOf, times } from './bench.ts'
import { auditedEntries, snapshotBesidesAudit } from './sound.ts'

const AGENT = 'session:s2'
const THEIRS = pidOf('theirs')
const OWN = pidOf('own')

/** Denials by ownership: the audit has each of them, bounded, and nothing else changes. */
export function denials(behaves: Behaves): void {
  /** A process of the session s1, and one of s2, which acts. */
  const twoSessions = async (bench: Bench) => {
    for (const id of ['s1', 's2']) await openSession(bench.edges, 'host', id, null)
    await bench.register({ ...OUTSIDE, owner: { session: 's1' } }, { pid: THEIRS })
    await bench.register({ ...OUTSIDE, owner: { session: 's2' } }, { pid: OWN })
  }
  const others = (bench: Bench) => snapshotBesidesAudit(bench.store)
  const intent = (bench: Bench, pid: string) =>
    ({ type: 'change_cwd', pid, cwd: '/x', actor: AGENT, at: bench.clock.now() }) as const
  const found = async (bench: Bench) =>
    (await auditedEntries(bench.store)).map(({ action, target }) => `${action} ${target}`)

  const acts: readonly (readonly [name: string, entry: string, act: (bench: Bench) => Promise<unknown>])[] = [
    ['an intent', `change_cwd process:${THEIRS}`, (bench) => bench.refused('denied', intent(bench, THEIRS))],
    [
      'a message',
      `message process:${THEIRS}`,
      (bench) =>
        bench.refused('denied', {
          type: 'message',
          pid: THEIRS,
          to: `process:${THEIRS}`,
          message: {
            from: AGENT,
            value: 1,
            channel: null,
            correlationId: null,
            replyTo: null,
            priority: 'normal',
          },
          key: 'k',
          actor: AGENT,
        }),
    ],
    [
      'another owner',
      `change_owner process:${OWN}`,
      (bench) =>
        bench.refused('denied', {
          type: 'change_owner',
          pid: OWN,
          owner: { session: 's1' },
          actor: AGENT,
        }),
    ],
    [
      'a registration in a session',
      'spawn session:s1',
      async (bench) => {
        const request = { ...OUTSIDE, owner: { session: 's1' } }
        assert.equal(refusalOf(await bench.tryRegister([{ request, actor: AGENT }])), 'denied')
      },
    ],
    [
      'a registration below a process',
      `spawn process:${THEIRS}`,
      async (bench) => {
        const request = { ...OUTSIDE, parent: THEIRS, owner: { session: 's2' } }
        assert.equal(refusalOf(await bench.tryRegister([{ request, actor: AGENT }])), 'denied')
      },
    ],
    ['a change of a session', 'touchSession session:s1', (bench) => touchSession(bench.edges, AGENT, 's1')],
    ['the end of a session', 'endSession session:s1', (bench) => endSession(bench.edges, AGENT, 's1')],
    ['a deletion', 'deleteSession session:s1', (bench) => markDeleted(bench.edges, AGENT, 's1')],
    ['an opened session', 'openSession session:s3', (bench) => openSession(bench.edges, AGENT, 's3', null)],
    ['a turn', 'openTurn session:s1', (bench) => openTurn(bench.edges, AGENT, { session: 's1', turn: 't' })],
    ['a grant', `grant process:${THEIRS}`, (bench) => grant(bench.edges, AGENT, 's2', [THEIRS], null)],
    ['a revocation', `revoke process:${THEIRS}`, (bench) => revoke(bench.edges, AGENT, 's1', [THEIRS])],
    [
      'a transfer of grants',
      `transferGrants process:${THEIRS}`,
      (bench) => transfer(bench.edges, AGENT, 's1', 's2', [THEIRS]),
    ],
    [
      'a charge',
      `charge process:${THEIRS}`,
      async (bench) => {
        const charged = { pid: THEIRS, amounts: { tokensIn: 1 }, done: true, actor: AGENT } as const
        assert.equal(((await charge(bench.edges, 'k1', charged)) as { code?: string }).code, 'denied')
      },
    ],
    [
      'an environment with a secret',
      'putEnvironment store',
      (bench) =>
        putEnvironment(bench.edges, AGENT, {
          variables: { KEY: { secret: 'KEY' } },
          policy: {},
          options: {},
        }),
    ],
  ]

  for (const [name, entry, act] of acts)
    behaves(`a denial by ownership is in the audit, and changes nothing else: ${name}`, async (bench) => {
      await twoSessions(bench)
      const before = await others(bench)
      const code = await codeOf(act(bench))
      assert.ok(code === 'denied' || code === 'accepted', code)
      assert.deepEqual(await found(bench), [entry])
      const [denied] = await auditedEntries(bench.store)
      assert.deepEqual([denied?.actor, denied?.decision, denied?.rule], [AGENT, 'denied', null])
      assert.match(denied?.reason ?? '', /^session:s2 may not /)
      assert.deepEqual(await others(bench), before)
    })

  behaves('equal denials by ownership are counted, and different ones are bounded', async (bench) => {
    await twoSessions(bench)
    for (const _ of times(20)) await bench.refused('denied', intent(bench, THEIRS))
    assert.deepEqual(await found(bench), [`change_cwd process:${THEIRS}`])
    await performEach(
      bench.edges,
      times(5).map(() => intent(bench, THEIRS)),
    )
    assert.equal((await found(bench)).length, 1)
    bench.clock.advance(AUDIT_WINDOW_MS)
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await kernel.sweep()
    const [, repeated] = await auditedEntries(bench.store)
    assert.deepEqual([repeated?.decision, repeated?.inputs['repeats']], ['repeated', 24])
  })

  behaves('a denied intent keeps no other one of its transaction from happening', async (bench) => {
    await twoSessions(bench)
    const answers = await performEach(bench.edges, [
      intent(bench, THEIRS),
      intent(bench, OWN),
      intent(bench, pidOf('unknown')),
    ])
    assert.deepEqual(
      answers.map(({ type }) => type),
      ['refused', 'appended', 'refused'],
    )
    assert.deepEqual(await found(bench), [`change_cwd process:${THEIRS}`])
  })

  behaves('of intents that happen together, a denial leaves its entry alone', async (bench) => {
    await twoSessions(bench)
    const before = await others(bench)
    const refused = await performAll(bench.edges, [intent(bench, OWN), intent(bench, THEIRS)])
    assert.equal('code' in refused && refused.code, 'denied')
    assert.deepEqual(await found(bench), [`change_cwd process:${THEIRS}`])
    assert.deepEqual(await others(bench), before)
  })

  behaves('a refusal for another reason, and an act that is allowed, make no entry', async (bench) => {
    await twoSessions(bench)
    await bench.refused('unknown_pid', { ...intent(bench, pidOf('unknown')), actor: AGENT })
    await bench.performed('appended', intent(bench, OWN))
    await bench.register({ ...OUTSIDE, owner: { session: 's2' } }, { actor: AGENT })
    await touchSession(bench.edges, AGENT, 's2')
    assert.deepEqual(await found(bench), [])
  })
}
