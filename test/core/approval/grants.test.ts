import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type GrantFacts, offeredGrants } from '../../../src/core/approval/grants.ts'
import { type Action, type ResolvedAction, repeatTexts } from '../../../src/core/capability/action.ts'
import type { Need } from '../../../src/core/capability/need.ts'
import type { AnalysedShell } from '../../../src/core/capability/needs.ts'
import { needsOf } from '../../../src/core/capability/needs.ts'
import { asksOn, ruleOnAll } from '../../../src/core/capability/rule-on.ts'
import { withRules } from '../../../src/core/capability/rule-set.ts'
import type { Json } from '../../../src/core/json/json.ts'
import { anyKind, needOf, rulesOf } from '../capability/arbitrary.ts'
import { ask, deny, factsAt, NOON, ruleSet } from '../capability/rules.ts'

const FACTS = { at: NOON, host: null, delegators: new Map(), used: new Map() }
const HASHES = { process: 'a'.repeat(64), session: 'b'.repeat(64), always: 'c'.repeat(64) }

/** One command of literal words, as a host resolves it. */
function plain(...words: readonly string[]): AnalysedShell {
  const [program = '', ...args] = words
  return { type: 'commands', commands: [{ program, args, env: [] }], writes: [] }
}

function needsFor(shell: AnalysedShell): readonly Need[] {
  const programs = new Map(shell.commands.map(({ program }) => [program, { real: `/usr/bin/${program}` }]))
  const facts = { shell, programs, cwd: '/w', workspace: null, env: [], codeVariables: [], secrets: [] }
  return needsOf({ kind: 'command', spec: { run: '' } }, facts)
}

const ACTION: Action = {
  subject: 'process:p_agent',
  parent: 'p_agent',
  host: 'laptop',
  act: { type: 'command', run: '', stdin: 'null', programs: [] },
  cwd: '/w',
  environmentHash: 'e1',
  sandbox: null,
}

function facts(shell: AnalysedShell, more: Partial<GrantFacts> = {}): GrantFacts {
  const needs = more.needs ?? needsFor(shell)
  return {
    needs,
    action: ACTION,
    shell,
    settles: [{ subject: 'home', rule: 'r1' }],
    hashes: HASHES,
    at: NOON,
    ...more,
  }
}

test('a plain command offers every grant, and always names the file of the program and all arguments', () => {
  const { grants, alwaysRule, grantRules } = offeredGrants(facts(plain('git', 'push', 'origin')))
  expect(grants).toEqual(['once', 'process', 'session', 'always'])
  expect(alwaysRule).toMatchObject({
    effect: 'allow',
    rights: ['execute'],
    resource: 'shell:/usr/bin/git',
    constraints: { args: ['push', 'origin'], action: HASHES.always },
    settles: [{ subject: 'home', rule: 'r1' }],
  })
  expect(grantRules.session).toMatchObject([
    { resource: 'shell:git', constraints: { args: ['push', 'origin'], action: HASHES.session } },
  ])
  expect(grantRules.process).toMatchObject([{ constraints: { action: HASHES.process } }])
})

test('always is not offered where one rule would not say all that the action does', () => {
  const shells: readonly (readonly [why: string, shell: AnalysedShell])[] = [
    ['bare git', plain('git')],
    ...[
      'make test',
      'npm run build',
      'npm test',
      'npm install',
      'npx tsc',
      'pnpm build',
      'yarn',
      'just deploy',
      'task x',
    ].map((line) => [line, plain(...line.split(' '))] as const),
    ...['cargo test', 'go generate', 'docker compose up', 'terraform apply'].map(
      (line) => [line, plain(...line.split(' '))] as const,
    ),
    ['git stash without its subcommand', plain('git', 'stash')],
    [
      'compound',
      {
        ...plain('git', 'push'),
        commands: [...plain('git', 'add').commands, ...plain('git', 'push').commands],
      },
    ],
    ['a redirection', { ...plain('git', 'log'), writes: ['x'] }],
    ['opaque', { ...plain('git', 'push'), type: 'opaque', reason: 'eval' }],
    [
      'an interpreter',
      {
        ...plain('python3', 'x.py'),
        commands: [{ program: 'python3', args: ['x.py'], env: [], opaque: 'runs more' }],
      },
    ],
    [
      'a wrapper alone',
      { ...plain('env'), commands: [{ program: 'env', args: [], env: [], transparent: true }] },
    ],
    [
      'an unknown option',
      {
        ...plain('git', 'push'),
        commands: [{ program: 'git', args: ['push'], env: [], unknownOption: true }],
      },
    ],
    ['a variable', { ...plain('git', 'push'), commands: [{ program: 'git', args: ['push'], env: ['CI'] }] }],
    [
      'an argument that is not literal',
      { ...plain('git', 'push'), commands: [{ program: 'git', args: ['push', null], env: [] }] },
    ],
  ]
  for (const [why, shell] of shells) {
    const { grants, alwaysRule } = offeredGrants(facts(shell))
    expect([why, alwaysRule, grants]).toEqual([why, null, ['once', 'process', 'session']])
  }
  const input = { ...ACTION, act: { ...ACTION.act, stdin: { text: 'x' } } } as Action
  expect(offeredGrants(facts(plain('git', 'push'), { action: input })).alwaysRule).toBe(null)
  expect(offeredGrants(facts(plain('npm', 'view', 'left-pad'))).alwaysRule).not.toBe(null)
})

test('a script runner under another name is one', () => {
  const shell = plain('m', 'test')
  const [need] = needsFor(shell)
  if (need?.resource.kind !== 'shell') throw new Error('A program')
  const program = { ...need.resource.program, real: '/usr/bin/make' }
  const needs = [{ ...need, resource: { ...need.resource, program } }]
  expect(offeredGrants(facts(shell, { needs })).alwaysRule).toBe(null)
})

test('nothing is remembered of a command with an open input: what it does is decided later', () => {
  const open: readonly Partial<Extract<Action['act'], { type: 'command' }>>[] = [
    { stdin: 'pipe' },
    { pty: true },
  ]
  for (const more of open) {
    const action = { ...ACTION, act: { ...ACTION.act, ...more } } as Action
    const offered = offeredGrants(facts(plain('git', 'push'), { action }))
    expect(offered).toEqual({ grants: ['once'], grantRules: { process: [], session: [] }, alwaysRule: null })
  }
  const given = { ...ACTION, act: { ...ACTION.act, stdin: { text: 'x' } } } as Action
  expect(offeredGrants(facts(plain('git', 'push'), { action: given })).grants).toEqual([
    'once',
    'process',
    'session',
  ])
})

test('a program that was not found, or a command that no host resolved, is not remembered for every time', () => {
  const needs = needsOf(
    { kind: 'command', spec: { run: '' } },
    {
      shell: plain('git', 'push'),
      programs: new Map(),
      cwd: '/w',
      workspace: null,
      env: [],
      codeVariables: [],
      secrets: [],
    },
  )
  expect(offeredGrants(facts(plain('git', 'push'), { needs })).alwaysRule).toBe(null)
  const unresolved = { ...ACTION, environmentHash: '' }
  expect(offeredGrants(facts(plain('git', 'push'), { action: unresolved })).grants).toEqual(['once'])
})

test('without a session or a process there is no grant for it', () => {
  const hashes = { ...HASHES, session: null, process: null }
  expect(offeredGrants(facts(plain('git', 'push'), { hashes })).grants).toEqual(['once', 'always'])
})

test('the rules of a grant let exactly this action pass, whichever rules asked, and no other one', () => {
  const opaque: AnalysedShell = {
    ...plain('git', 'push'),
    type: 'opaque',
    reason: 'eval',
    writes: [null, '/etc/x'],
  }
  const home = ruleSet('home', [
    ask('shell:git', { id: 'r1' }),
    ask('fs:/**', { id: 'r2' }),
    deny('shell:rm', { id: 'r3' }),
  ])
  for (const shell of [plain('git', 'push'), opaque]) {
    const needs = needsFor(shell)
    const settles = asksOn([home], [], needs, FACTS)
    expect(ruleOnAll([home], [], needs, FACTS).type).toBe('ask')
    const { grantRules } = offeredGrants(facts(shell, { needs, settles }))
    const session = withRules(ruleSet('session:s', []), grantRules.session)
    const ofAction = (hash: string) =>
      needs.map((need) => ({ ...need, attributes: { ...need.attributes, actions: [hash] } }))
    const on = (hash: string, sets = [home, session]) => ruleOnAll(sets, [], ofAction(hash), FACTS).type
    expect(on(HASHES.session)).toBe('allow')
    expect(on('d'.repeat(64))).toBe('ask')
    expect(ruleOnAll([home, session], [], needs, FACTS).type).toBe('ask')
    // A rule that was not there when the person answered asks again, and a deny wins.
    const later = withRules(home, [...home.rules, ask('shell:git', { id: 'r9' })])
    expect(on(HASHES.session, [later, session])).toBe('ask')
    const denied = withRules(home, [...home.rules, deny('shell:git', { id: 'r9' })])
    expect(on(HASHES.session, [denied, session])).toBe('deny')
    expect(session.closed).toBe(false)
  }
})

const RESOLVED: ResolvedAction & { readonly chosen: Json } = {
  shell: plain('git', 'push'),
  programs: [],
  cwd: '/w',
  environmentHash: 'e1',
  variables: { PATH: '/usr/bin' },
  env: [],
  codeVariables: [],
  chosen: { passEnv: null },
}
const ASKER = { session: 's', above: 'p_agent' }

test('what makes an action the same one, for each grant', () => {
  const git = (identity: string) => ({
    ...ACTION.act,
    programs: [{ name: 'git', real: '/usr/bin/git', identity }],
  })
  const changes: readonly (readonly [
    string,
    Partial<Action>,
    Partial<typeof ASKER>,
    Partial<typeof RESOLVED>,
    string,
  ])[] = [
    ['nothing', {}, {}, {}, 'process session always'],
    ['another call of a tool', { parent: 'p_tool' }, {}, {}, 'process session always'],
    ['an argument', { act: { ...ACTION.act, run: 'git push -f' } as Action['act'] }, {}, {}, ''],
    ['the input', { act: { ...ACTION.act, stdin: { text: 'y' } } as Action['act'] }, {}, {}, ''],
    ['the file of the program', { act: git('2') as Action['act'] }, {}, {}, ''],
    ['the folder', { cwd: '/x' }, {}, {}, ''],
    ['the host', { host: 'server' }, {}, {}, ''],
    ['a variable that is not shown', { environmentHash: 'e2' }, {}, {}, 'always'],
    ['a variable that is shown', { environmentHash: 'e2' }, {}, { variables: { PATH: '/tmp' } }, ''],
    ['a variable that the request sets', { environmentHash: 'e2' }, {}, { env: ['CI'] }, ''],
    ['an environment that the request names', {}, {}, { chosen: { passEnv: ['A'] } }, 'process session'],
    ['the process above', {}, { above: 'p_other' }, {}, 'session always'],
    ['the subject', { subject: 'process:p_other' }, {}, {}, 'session always'],
    ['the session', {}, { session: 't' }, {}, 'process always'],
  ]
  const first = repeatTexts(ACTION, ASKER, RESOLVED)
  for (const [what, action, asker, resolved, same] of changes) {
    const texts = repeatTexts({ ...ACTION, ...action }, { ...ASKER, ...asker }, { ...RESOLVED, ...resolved })
    const equal = (['process', 'session', 'always'] as const).filter((grant) => texts[grant] === first[grant])
    expect([what, equal.join(' ')]).toEqual([what, same])
  }
})

test('under any rules, a grant for the session answers this action, and leaves every other ruling as it was', () => {
  const scene = fc
    .array(anyKind, { minLength: 1, maxLength: 3 })
    .chain((kinds) =>
      fc.tuple(
        fc.array(fc.tuple(...kinds.map((kind) => rulesOf(kind))), { minLength: 1, maxLength: 2 }),
        fc.tuple(...kinds.map((kind) => needOf(kind))),
      ),
    )
  let cases = 0
  fc.assert(
    fc.property(scene, ([lists, needs]) => {
      const sets = lists.map((list, index) =>
        ruleSet(
          `set:${index}`,
          list
            .flat()
            .filter(({ effect }) => effect !== 'deny' && (index > 0 || effect === 'ask'))
            .map((rule, place) => ({ ...rule, id: `r${place}` })),
        ),
      )
      const at = factsAt(NOON)
      if (ruleOnAll(sets, [], needs, at).type !== 'ask') return
      cases++
      const settles = asksOn(sets, [], needs, at)
      const { grantRules } = offeredGrants(facts(plain('git', 'push'), { needs, settles }))
      const session = withRules(ruleSet('session:s', []), grantRules.session)
      const typeOf = (hash: string) => {
        const hashed = needs.map((need) => ({ ...need, attributes: { ...need.attributes, actions: [hash] } }))
        return ruleOnAll([...sets, session], [], hashed, at).type
      }
      expect(typeOf(HASHES.session)).toBe('allow')
      expect(typeOf(HASHES.always)).toBe('ask')
    }),
    { numRuns: 500 },
  )
  expect(cases).toBeGreaterThan(20)
})
