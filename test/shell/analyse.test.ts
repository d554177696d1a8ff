// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines for a shell
import { describe, expect, test } from 'vitest'
import { analyseArgv, analyseShell } from '../../src/shell/analyse.ts'
import { loadShellAnalysis } from '../../src/shell/load.ts'

const commandsOf = (line: string) => analyseShell(line, 'bash').commands
const writesOf = (line: string) => analyseShell(line, 'bash').writes

describe('variables', () => {
  test('a prefix is set for its command alone', () => {
    expect(commandsOf('FOO=1 BAR=2 npm test && ls')).toEqual([
      { program: 'npm', args: ['test'], env: ['FOO', 'BAR'] },
      { program: 'ls', args: [], env: [] },
    ])
  })

  test('a variable that is set without a command may be an exported one', () => {
    expect(commandsOf('FOO=1; npm test')).toEqual([{ program: 'npm', args: ['test'], env: ['FOO'] }])
    expect(commandsOf('export FOO=1; npm test')).toEqual([
      { program: 'export', args: ['FOO=1'], env: ['FOO'] },
      { program: 'npm', args: ['test'], env: ['FOO'] },
    ])
  })

  test('a variable that is set for a function is seen by its commands', () => {
    expect(commandsOf('f() { npm test; }; FOO=1 f')).toEqual([
      { program: 'npm', args: ['test'], env: ['FOO'] },
      { program: 'f', args: [], env: ['FOO'] },
    ])
  })

  test('a wrapper passes its variables on', () => {
    expect(commandsOf("A=1 env B=2 sh -c 'C=3 ls'")).toEqual([
      { program: 'env', args: ['B=2', 'sh', '-c', 'C=3 ls'], env: ['A'], transparent: true },
      { program: 'sh', args: ['-c', 'C=3 ls'], env: ['A', 'B'], transparent: true },
      { program: 'ls', args: [], env: ['A', 'B', 'C'] },
    ])
  })

  test('a variable that may run programs makes the line opaque, and its commands stay listed', () => {
    expect(analyseShell('PATH=/tmp/x rm -r y', 'bash')).toEqual({
      type: 'opaque',
      reason: 'it sets PATH, which may run programs',
      commands: [{ program: 'rm', args: ['-r', 'y'], env: ['PATH'] }],
      writes: [],
    })
  })
})

describe('redirections', () => {
  test.each<[line: string, writes: (string | null)[]]>([
    ['ls > a', ['a']],
    ['ls >> a', ['a']],
    ['ls >| a', ['a']],
    ['ls 2> a', ['a']],
    ['ls &> a', ['a']],
    ['ls &>> a', ['a']],
    ['ls >& a', ['a']],
    ['cat <> a', ['a']],
    ['> "a b"', ['a b']],
    ['{ ls; } > a', ['a']],
    ['echo $(ls > a)', ['a']],
    ["sh -c 'ls > a'", ['a']],
    ['ls > "$x"', [null]],
    ['ls > ~/a', [null]],
    ['ls > /dev/null 2>&1', []],
    ['cat < a', []],
    ['ls >&2', []],
    ['exec 3>&-', []],
    ['cd /etc && ls > a', [null]],
    ['cd /etc && ls > /tmp/a', ['/tmp/a']],
  ])('%s writes %j', (line, writes) => {
    expect(writesOf(line)).toEqual(writes)
  })
})

describe('wrappers', () => {
  test('a wrapper that does nothing else is transparent, where the system has it', () => {
    expect(commandsOf('nohup ls')[0]).toMatchObject({ program: 'nohup', transparent: true })
    expect(commandsOf('/usr/bin/nohup ls')[0]).toMatchObject({ transparent: true })
    expect(commandsOf('./nohup ls')[0]).not.toHaveProperty('transparent')
    expect(commandsOf('xargs ls')[0]).not.toHaveProperty('transparent')
    expect(commandsOf('sudo ls')[0]).not.toHaveProperty('transparent')
    expect(commandsOf('env')[0]).not.toHaveProperty('transparent')
  })

  test('a command with two names is listed under both', () => {
    expect(commandsOf('npm --silent i left-pad').map(({ args }) => args)).toEqual([
      ['--silent', 'i', 'left-pad'],
      ['install', 'left-pad'],
    ])
    expect(commandsOf('docker container rm x').map(({ args }) => args)).toEqual([
      ['container', 'rm', 'x'],
      ['rm', 'x'],
    ])
  })

  test('a command of a group that is not literal may be any of it', () => {
    expect(commandsOf('docker container "$x" y').map(({ args }) => args)).toEqual([
      ['container', null, 'y'],
      [null],
    ])
  })

  test('a name that pnpm does not know may be a program', () => {
    expect(commandsOf('pnpm -r git push').map(({ program, args }) => [program, ...args])).toEqual([
      ['pnpm', '-r', 'git', 'push'],
      ['git', 'push'],
    ])
  })

  test('sudo is opaque, and what it runs is listed', () => {
    expect(commandsOf('sudo -n rm -r x')).toEqual([
      {
        program: 'sudo',
        args: ['-n', 'rm', '-r', 'x'],
        env: [],
        opaque: 'sudo runs commands as another user',
      },
      { program: 'rm', args: ['-r', 'x'], env: [] },
    ])
  })
})

describe('programs that run what the files of a project say are not opaque', () => {
  test.each([
    'make test',
    'npm test',
    'npm run build',
    'cargo build',
    './script.sh',
    'go test ./...',
    'pytest -q',
    'mvn verify',
  ])('%s', (line) => {
    expect(analyseShell(line, 'bash')).toMatchObject({ type: 'commands' })
    expect(commandsOf(line).map(({ opaque }) => opaque)).toEqual([undefined])
  })
})

describe('awk', () => {
  test.each([['{ print $1 }'], ['-F:', '$1 == "a" || $2 > 3'], ['-F', ',', '-v', 'n=3', 'NR == n']])(
    'a program that only prints is harmless: %j',
    (...args) => {
      expect(analyseArgv(['awk', ...args, 'file']).commands[0]).not.toHaveProperty('opaque')
    },
  )

  test.each([
    ['{ system($1) }'],
    ['{ print | "sh" }'],
    ['{ print |||"sh" }'],
    ['{ "ls" | getline }'],
    ['-f', 'x'],
    ['@load "x"'],
    ['-e', 'x'],
  ])('any other is opaque: %j', (...args) => {
    expect(analyseArgv(['awk', ...args, 'file']).commands[0]).toHaveProperty('opaque')
  })
})

describe('sed', () => {
  test.each([
    's/a/b/',
    's|a/b|c|g',
    's/a/b/; s/c;d/e/g',
    '/^$/d;1,5p',
    '$!N',
    '1,/x\\/y/d',
    '/a/I,+3p',
    's/\\//x/2',
    's/[^"a-z]*[[:space:]]/x/g',
  ])('a script that neither runs nor writes is harmless: %s', (script) => {
    expect(analyseArgv(['sed', '-n', script, 'file']).commands[0]).not.toHaveProperty('opaque')
  })

  test.each([
    's/[/]/g;/e;/,/p;/p',
    's/[]/]/x/',
    's/[[:alpha:]/]/x/',
    's/a/b/e',
    's/a/b/w x',
    '1e ls',
    'e',
    'w x',
    'p;e',
    's/a/b/g;e',
    's/a/b/\ne ls',
    '/a/{e\n}',
    's/a/b',
    'r x',
    'a x',
  ])('any other script is opaque: %j', (script) => {
    expect(analyseArgv(['sed', script, 'file']).commands[0]).toHaveProperty('opaque')
    expect(analyseArgv(['sed', '-e', 'p', '-e', script]).commands[0]).toHaveProperty('opaque')
  })
})

describe('argv', () => {
  test('a program without a shell has literal arguments', () => {
    expect(analyseArgv(['git', 'push', '$x', '*'])).toEqual({
      type: 'commands',
      commands: [{ program: 'git', args: ['push', '$x', '*'], env: [] }],
      writes: [],
    })
  })

  test('wrappers and shells are unwrapped', () => {
    const { commands } = analyseArgv(['env', 'A=1', 'bash', '-lc', 'git push; ls > x'])
    expect(commands.map(({ program, args }) => [program, ...args])).toEqual([
      ['env', 'A=1', 'bash', '-lc', 'git push; ls > x'],
      ['bash', '-lc', 'git push; ls > x'],
      ['git', 'push'],
      ['ls'],
    ])
  })

  test('without a program, with an empty one or with an interpreter it is opaque', () => {
    expect(analyseArgv([]).type).toBe('opaque')
    expect(analyseArgv(['', 'x']).type).toBe('opaque')
    expect(analyseArgv(['python3', 'x.py']).commands[0]).toHaveProperty('opaque')
  })
})

test('the analysis is loaded when it is first needed', async () => {
  const { analyseShell: loaded } = await loadShellAnalysis()
  expect(loaded('ls')).toEqual({
    type: 'commands',
    commands: [{ program: 'ls', args: [], env: [] }],
    writes: [],
  })
})
