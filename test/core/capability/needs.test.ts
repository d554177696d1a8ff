import { expect, test } from 'vitest'
import { needText } from '../../../src/core/capability/need.ts'
import {
  type AnalysedShell,
  type NeedFacts,
  needsAnalysis,
  needsOf,
} from '../../../src/core/capability/needs.ts'
import { allow, deny, ruleSet } from './rules.ts'

const FACTS: NeedFacts = {
  shell: null,
  programs: new Map(),
  cwd: '/w/app',
  workspace: '/w',
  env: [],
  codeVariables: [],
  secrets: [],
}

const commandOf = (program: string, ...args: (string | null)[]) => ({ program, args, env: [] })
const commands = (...list: readonly ReturnType<typeof commandOf>[]): AnalysedShell => ({
  type: 'commands',
  commands: list,
  writes: [],
})
const runs = (shell: AnalysedShell, more: Partial<NeedFacts> = {}) =>
  needsOf({ kind: 'command', spec: { run: 'x' } }, { ...FACTS, shell, ...more })

test('a command needs every program in it, with its arguments and variables', () => {
  const shell: AnalysedShell = {
    type: 'commands',
    commands: [
      { program: 'git', args: ['push', null], unknownOption: true, env: ['CI'] },
      { program: '../bin/run', args: [], env: [], opaque: 'node runs any code' },
    ],
    writes: [],
  }
  const programs = new Map([
    ['git', { real: '/usr/lib/git' }],
    ['../bin/run', { real: '/w/tools/run' }],
  ])
  expect(runs(shell, { programs, env: ['CI', 'DEBUG'] })).toEqual([
    {
      right: 'execute',
      resource: { kind: 'shell', program: { name: 'git', real: '/usr/lib/git' }, workspace: '/w' },
      attributes: { args: ['push', null], unknownOption: true, env: ['CI', 'DEBUG'] },
    },
    {
      right: 'execute',
      resource: {
        kind: 'shell',
        program: { name: 'run', path: 'bin/run', real: 'tools/run' },
        workspace: '/w',
      },
      attributes: { args: [], unknownOption: false, env: ['CI', 'DEBUG'], opaque: 'node runs any code' },
    },
  ])
})

test.for([
  ['out.txt', 'app/out.txt'],
  ['../out.txt', 'out.txt'],
  ['../../out.txt', '/out.txt'],
  ['/w/x', 'x'],
  ['/w2/x', '/w2/x'],
  ['/etc/../w/./x', 'x'],
  ['~/x', null],
  [null, null],
] as const)('a redirection to %s writes the file %s', ([target, path]) => {
  const shell: AnalysedShell = { type: 'commands', commands: [], writes: [target] }
  expect(runs(shell)).toEqual([
    { right: 'write', resource: { kind: 'fs', path, workspace: '/w' }, attributes: {} },
  ])
})

test('redirections to devices without content need nothing', () => {
  expect(runs({ type: 'commands', commands: [], writes: ['/dev/null', '/dev/stderr'] })).toEqual([])
})

test('after a change of the folder relative paths are not known', () => {
  const shell: AnalysedShell = {
    type: 'commands',
    commands: [commandOf('cd', 'x'), commandOf('./git', 'status')],
    writes: ['out.txt', '/tmp/out.txt'],
  }
  expect(runs(shell)).toMatchObject([
    { resource: { program: { name: 'cd' } } },
    {
      resource: { program: { name: 'git', path: './git' } },
      attributes: { opaque: 'The folder of the program is not known.' },
    },
    { resource: { kind: 'fs', path: null } },
    { resource: { kind: 'fs', path: '/tmp/out.txt' } },
  ])
})

test('a command that cannot be analysed, or was not, needs shell:sh', () => {
  const shell: AnalysedShell = { type: 'opaque', reason: 'eval', commands: [commandOf('ls')], writes: ['/x'] }
  expect(runs(shell)).toEqual([
    {
      right: 'execute',
      resource: { kind: 'shell', program: { name: 'sh' }, workspace: '/w' },
      attributes: { args: [], unknownOption: false, env: [], opaque: 'eval' },
    },
    // What can be seen of it counts as well.
    {
      right: 'execute',
      resource: { kind: 'shell', program: { name: 'ls' }, workspace: '/w' },
      attributes: { args: [], unknownOption: false, env: [] },
    },
    { right: 'write', resource: { kind: 'fs', path: '/x', workspace: '/w' }, attributes: {} },
  ])
  expect(needsOf({ kind: 'command', spec: { argv: ['ls'] } }, FACTS)).toMatchObject([
    { attributes: { opaque: 'It was not analysed.' } },
  ])
})

test('a variable that can make a program run other code makes every program unknown', () => {
  const wrapper = { ...commandOf('nohup', 'ls'), transparent: true } as const
  const shell: AnalysedShell = { type: 'commands', commands: [wrapper, commandOf('ls')], writes: [] }
  expect(runs(shell).map(({ attributes }) => attributes)).toEqual([
    { args: ['ls'], unknownOption: false, env: [], transparent: true },
    { args: [], unknownOption: false, env: [] },
  ])
  const opaque = 'The variable LD_PRELOAD can make a program run other code.'
  const env = ['CI', 'LD_PRELOAD']
  expect(runs(shell, { env, codeVariables: ['LD_PRELOAD'] }).map(({ attributes }) => attributes)).toEqual([
    { args: ['ls'], unknownOption: false, env, opaque },
    { args: [], unknownOption: false, env, opaque },
  ])
})

test('secrets that are passed by name are read', () => {
  expect(runs(commands(commandOf('ls')), { secrets: ['TOKEN', 'env:KEY'] }).slice(1)).toEqual([
    { right: 'read', resource: { kind: 'secret', path: 'TOKEN' }, attributes: {} },
    { right: 'read', resource: { kind: 'secret', path: 'env:KEY' }, attributes: {} },
  ])
})

test('a tool, a workflow and an agent need to be executed; an external process needs nothing', () => {
  const text = (...request: Parameters<typeof needsOf>) => needsOf(...request).map(needText)
  expect(text({ kind: 'tool', spec: { tool: 'grep' } }, FACTS)).toEqual(['execute tool:grep'])
  expect(text({ kind: 'workflow', spec: { workflow: 'release' } }, FACTS)).toEqual([
    'execute workflow:release',
  ])
  expect(text({ kind: 'agent', spec: { agent: 'coder' } }, { ...FACTS, secrets: ['KEY'] })).toEqual([
    'execute agent:coder',
    'read secret:KEY',
  ])
  expect(text({ kind: 'external', spec: { description: 'x' } }, FACTS)).toEqual([])
})

test('needs are shown in one line', () => {
  expect(needText(runs(commands(commandOf('/bin/git', 'push', null)))[0]!)).toBe(
    'execute shell:/bin/git push …',
  )
  expect(needText({ right: 'write', resource: { kind: 'fs', path: null }, attributes: {} })).toBe(
    'write fs:(unknown)',
  )
  expect(
    needText({ right: 'read', resource: { kind: 'net', host: 'a.dev', port: 80 }, attributes: {} }),
  ).toBe('read net:a.dev:80')
  expect(
    needText({ right: 'signal', resource: { kind: 'process', pid: 'p_a', ancestors: [] }, attributes: {} }),
  ).toBe('signal process:p_a')
})

test('commands are analysed only for rules about programs or files', () => {
  expect(needsAnalysis([ruleSet('home', [deny('tool:a')])])).toBe(false)
  expect(needsAnalysis([ruleSet('home', []), ruleSet('session:s', [deny('shell:git push')])])).toBe(true)
  expect(needsAnalysis([ruleSet('session:s', [allow('fs:**')])])).toBe(true)
  // Which secrets a command gets is found out with its analysis.
  expect(needsAnalysis([ruleSet('home', [deny('secret:KEY')])])).toBe(true)
})
