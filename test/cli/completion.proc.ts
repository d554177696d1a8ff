import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

async function offered(reeve: CommandLine, ...words: string[]): Promise<string[]> {
  const { stdout } = await reeve.run(['__complete', '--', ...words])
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0] ?? '')
}

test('completion offers subcommands, options, values, pids and names, and starts no daemon', async () => {
  const reeve = new CommandLine()
  expect(await offered(reeve, 're')).toEqual(['restart', 'reply', 'restore'])
  expect(await offered(reeve, 'logs', '--fo')).toEqual(['--follow'])
  expect(await offered(reeve, 'ps', '--status', 'pa')).toEqual(['paused'])
  expect(await offered(reeve, 'token', '')).toEqual(['create', 'list', 'revoke'])
  expect(await offered(reeve, 'run', '--', 'np')).toEqual([':command'])
  expect(await offered(reeve, 'up', '--lis')).toEqual(['--listen'])
  expect(await offered(reeve, 'show', '')).toEqual([])
  expect(reeve.temp.announced()).toBeNull()
  await reeve.run(['session', 'open', 's1'])
  const pid = (await reeve.run(['run', '-d', '--name', 'web', '--', 'sleep', '60'])).stdout.trim()
  expect(await offered(reeve, 'kill', '')).toEqual(['web', pid])
  expect(await offered(reeve, 'kill', 'we')).toEqual(['web'])
  expect(await offered(reeve, 'run', '--session', '')).toEqual(['s1'])
})

test('bash completes with the candidates of reeve', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'web-server', '--', 'sleep', '60'])
  const script = (await reeve.run(['completion', 'bash'])).stdout
  const ask = `${script}
reeve() { ${reeve.called} "$@"; }
COMP_WORDS=(reeve logs web-); COMP_CWORD=2
_reeve
printf '%s\\n' "\${COMPREPLY[@]}"`
  expect(execFileSync('bash', ['-c', ask], { env: reeve.env, encoding: 'utf8' })).toBe('web-server\n')
})

test('each shell has a script, and another name is refused', async () => {
  const reeve = new CommandLine()
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await reeve.run(['completion', shell])).stdout).toContain('reeve __complete --')
  expect((await reeve.run(['completion', 'tcsh'])).code).toBe(2)
})
