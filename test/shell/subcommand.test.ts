import { expect, test } from 'vitest'
import { argsForRules } from '../../src/shell/subcommand.ts'

test.each<[line: string, args: (string | null)[], rest: (string | null)[]]>([
  ['git', ['push', 'origin'], ['push', 'origin']],
  ['/usr/bin/git', ['-C', '.', 'push'], ['push']],
  ['git', ['--no-pager', '--git-dir=.git', '--work-tree', 'x', 'push', '-f'], ['push', '-f']],
  ['git', ['-c', 'a.b=c', '-P', 'log', null], ['log', null]],
  ['git', ['--version'], []],
  ['git', [], []],
  ['npm', ['--prefix', 'web', '-s', 'run', 'build'], ['run', 'build']],
  ['npm', ['--loglevel=error', 'publish'], ['publish']],
  ['docker', ['--context', 'x', '-D', 'run', '--rm', 'y'], ['run', '--rm', 'y']],
  ['docker', ['-H', 'tcp://x', 'push'], ['push']],
  ['kubectl', ['-n', 'prod', '--context=x', 'delete', 'pod', 'y'], ['delete', 'pod', 'y']],
  ['pnpm', ['-C', 'x', '--filter', 'y', 'publish'], ['publish']],
  ['yarn', ['--cwd', 'x', 'publish'], ['publish']],
  ['ls', ['-la', 'x'], ['-la', 'x']],
  ['constructor', ['x'], ['x']],
])('%s %j is compared from its subcommand on', (program, args, rest) => {
  expect(argsForRules(program, args)).toEqual({ args: rest, unknownOption: false })
})

test.each<[line: string, args: (string | null)[], rest: (string | null)[]]>([
  ['git', ['--new-option', 'push'], ['--new-option', 'push']],
  ['git', ['--new-option=x', 'push'], ['--new-option=x', 'push']],
  ['git', ['-C', null, 'push'], ['-C', null, 'push']],
  ['git', [null, 'push'], [null, 'push']],
  ['git', [null], [null]],
  ['git', ['an-alias'], ['an-alias']],
  ['git', ['--', 'push'], ['--', 'push']],
  ['git', ['-'], ['-']],
  ['npm', ['--new-option', 'publish'], ['--new-option', 'publish']],
  ['npm', ['publi'], ['publi']],
  ['docker', ['--new-option', 'run'], ['--new-option', 'run']],
  ['kubectl', ['a-plugin'], ['a-plugin']],
])('%s %j has no certain subcommand', (program, args, rest) => {
  expect(argsForRules(program, args)).toEqual({ args: rest, unknownOption: true })
})
