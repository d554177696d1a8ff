import { expect, test } from 'vitest'
import { covers } from '../../../src/core/capability/covers.ts'
import { isNarrower } from '../../../src/core/capability/narrower.ts'
import type { ConcreteResource } from '../../../src/core/capability/need.ts'
import {
  defaultRightOf,
  parseResource,
  type ResourcePattern,
  resourceText,
} from '../../../src/core/capability/resource.ts'
import { isRefusal } from '../../../src/core/refusal.ts'

function pattern(text: string): ResourcePattern {
  const parsed = parseResource(text)
  if (isRefusal(parsed)) throw new Error(parsed.message)
  return parsed
}

const inWorkspace = (path: string): ConcreteResource => ({ kind: 'fs', path, workspace: '/home/me/w' })

test.for([
  ['fs:src', 'src', 'yes'],
  ['fs:src', 'src/a.ts', 'no'],
  ['fs:src', 'src2', 'no'],
  ['fs:src/**', 'src', 'yes'],
  ['fs:src/**', 'src/a/b.ts', 'yes'],
  ['fs:src/**', 'src2/a.ts', 'no'],
  ['fs:src/*', 'src/a.ts', 'yes'],
  ['fs:src/*', 'src', 'no'],
  ['fs:src/*', 'src/a/b.ts', 'no'],
  ['fs:*/package.json', 'web/package.json', 'yes'],
  ['fs:*/package.json', 'package.json', 'no'],
  ['fs:**', 'any/file', 'yes'],
  ['fs:**', '/etc/passwd', 'no'],
  ['fs:/etc/**', '/etc/passwd', 'yes'],
  ['fs:/etc/**', '/etc2/passwd', 'no'],
  ['fs:/**', '/etc/passwd', 'yes'],
  ['fs:/**', 'src/a.ts', 'yes'],
  ['fs:/home/me/**', 'src/a.ts', 'yes'],
  ['fs:/home/you/**', 'src/a.ts', 'no'],
  ['fs:src/**', '/home/me/w/src/a.ts', 'yes'],
  ['fs:src/**', 'src/../../x', 'unknown'],
] as const)('%s covers the file %s: %s', ([text, path, expected]) => {
  expect(covers(pattern(text), inWorkspace(path))).toBe(expected)
})

test('a file that cannot be known is certainly covered only by a rule about all files', () => {
  expect(covers(pattern('fs:src/**'), { kind: 'fs', path: null })).toBe('unknown')
  expect(covers(pattern('fs:/**'), { kind: 'fs', path: null })).toBe('yes')
})

test.for([
  ['shell:git', { name: 'git' }, 'yes'],
  ['shell:git', { name: 'git2' }, 'no'],
  // A path may be any file with that name.
  ['shell:git', { name: 'git', path: 'bin/git' }, 'unknown'],
  ['shell:git', { name: 'git', path: '/usr/bin/git', real: '/usr/bin/git' }, 'unknown'],
  // Another name of the same file.
  ['shell:git', { name: 'g', real: '/usr/bin/git' }, 'unknown'],
  ['shell:/usr/bin/git', { name: 'g', real: '/usr/bin/git' }, 'yes'],
  ['shell:/usr/bin/git', { name: 'git', path: '/usr/bin/git' }, 'yes'],
  ['shell:/usr/bin/git', { name: 'git', real: '/opt/git/bin/git' }, 'no'],
  ['shell:/usr/bin/git', { name: 'git' }, 'unknown'],
  ['shell:/usr/bin/git', { name: 'ls' }, 'no'],
  ['shell:/usr/bin/*', { name: 'git', real: '/usr/bin/git' }, 'yes'],
  ['shell:./run.sh', { name: 'run.sh', path: 'run.sh' }, 'yes'],
  ['shell:scripts/**', { name: 'a.sh', path: 'scripts/x/a.sh' }, 'yes'],
  ['shell:scripts/**', { name: 'a.sh', path: 'scripts2/a.sh' }, 'no'],
  ['shell:*', { name: 'anything' }, 'yes'],
  ['shell:*', { name: 'git', path: 'bin/git' }, 'unknown'],
  ['shell:**', { name: 'git', path: 'bin/git' }, 'yes'],
] as const)('%s covers the program %o: %s', ([text, program, expected]) => {
  expect(covers(pattern(text), { kind: 'shell', program, workspace: '/w' })).toBe(expected)
})

test.for([
  ['net:example.com', 'example.com', 443, 'yes'],
  ['net:example.com', 'EXAMPLE.com.', 80, 'yes'],
  ['net:example.com', 'www.example.com', 443, 'no'],
  ['net:example.com', 'badexample.com', 443, 'no'],
  ['net:*.example.com', 'a.b.example.com', 443, 'yes'],
  ['net:*.example.com', 'example.com', 443, 'no'],
  ['net:*.example.com', 'badexample.com', 443, 'no'],
  ['net:example.com:443', 'example.com', 443, 'yes'],
  ['net:example.com:443', 'example.com', 80, 'no'],
  ['net:example.com:443', 'example.com', undefined, 'unknown'],
  ['net:[::1]:8080', '::1', 8080, 'yes'],
  ['net:*', 'anything.dev', 1, 'yes'],
] as const)('%s covers %s, port %s: %s', ([text, host, port, expected]) => {
  const resource: ConcreteResource = port === undefined ? { kind: 'net', host } : { kind: 'net', host, port }
  expect(covers(pattern(text), resource)).toBe(expected)
})

test('a process is covered by itself, and by the tree of an ancestor', () => {
  const child: ConcreteResource = { kind: 'process', pid: 'p_c', ancestors: ['p_b', 'p_a'] }
  expect(covers(pattern('process:p_c'), child)).toBe('yes')
  expect(covers(pattern('process:p_b'), child)).toBe('no')
  expect(covers(pattern('process:p_a/tree'), child)).toBe('yes')
  expect(covers(pattern('process:p_c/tree'), child)).toBe('yes')
  expect(covers(pattern('process:p_x/tree'), child)).toBe('no')
  expect(covers(pattern('process:*'), child)).toBe('yes')
})

test('names are compared part by part', () => {
  const call: ConcreteResource = { kind: 'mcp', path: 'github/create_issue' }
  expect(covers(pattern('mcp:github/*'), call)).toBe('yes')
  expect(covers(pattern('mcp:github'), call)).toBe('no')
  expect(covers(pattern('mcp:git/*'), call)).toBe('no')
  expect(covers(pattern('mcp:**'), call)).toBe('yes')
  expect(covers(pattern('tool:**'), call)).toBe('no')
  expect(covers(pattern('tool:constructor'), { kind: 'tool', path: 'constructor' })).toBe('yes')
})

test.for([
  ['*', 'would cover everything'],
  ['**', 'would cover everything'],
  ['src', 'has no known kind'],
  ['*:x', 'has no known kind'],
  ['shel:git', 'Did you mean shell?'],
  ['fs:', 'names nothing'],
  ['fs:src/', 'ends with a slash'],
  ['fs:../x', 'leads out of the workspace'],
  ['fs:*/../x', 'leads out of the workspace'],
  ['fs:~/.ssh', 'begins with ~'],
  ['fs:**/a', 'has ** before its end'],
  ['fs:src/*.ts', 'has a * within the segment *.ts'],
  ['tool:human.*', 'has a * within the segment human.*'],
  ['shell:python*', 'has a * within the name of a program'],
  ['net:exa mple', 'names no host'],
  ['net:a.example.*', 'names no host'],
  ['net:example.com:0', 'names no host'],
  ['process:p_a/x', 'names no process'],
  ['fs:a\nb', 'has a control character'],
  [`fs:${'a'.repeat(5000)}`, 'has 5003 characters'],
] as const)('the resource %s is refused', ([text, message]) => {
  expect(parseResource(text)).toMatchObject({
    code: 'invalid_rule',
    message: expect.stringContaining(message),
  })
})

test.for([
  ['fs:./src//a/../b', 'fs:src/b'],
  ['fs:.', 'fs:.'],
  ['fs:/', 'fs:/'],
  ['fs:/etc/../usr/**', 'fs:/usr/**'],
  ['shell:./run.sh', 'shell:./run.sh'],
  ['shell:**', 'shell:**'],
  ['net:[::1]:80', 'net:[::1]:80'],
  ['net:Example.COM', 'net:example.com'],
  ['net:**', 'net:*'],
  ['process:p_a/tree', 'process:p_a/tree'],
  ['secret:env:TOKEN', 'secret:env:TOKEN'],
] as const)('%s is stored as %s', ([text, stored]) => {
  expect(resourceText(pattern(text))).toBe(stored)
})

test.for([
  ['fs:src/a', 'fs:src/**', true],
  ['fs:src/**', 'fs:src/**', true],
  ['fs:src', 'fs:src/**', true],
  ['fs:src/**', 'fs:src', false],
  ['fs:src2/**', 'fs:src/**', false],
  ['fs:src/*', 'fs:src/a', false],
  ['fs:src/*', 'fs:*/*', true],
  ['fs:**', 'fs:/**', true],
  ['fs:/etc', 'fs:**', false],
  ['shell:git', 'shell:*', true],
  ['shell:*', 'shell:git', false],
  ['shell:/usr/bin/git', 'shell:git', false],
  ['shell:/usr/bin/git', 'shell:/usr/**', true],
  ['net:a.example.com', 'net:*.example.com', true],
  ['net:*.a.example.com', 'net:*.example.com', true],
  ['net:*.example.com', 'net:a.example.com', false],
  ['net:example.com', 'net:example.com:443', false],
  ['net:example.com:443', 'net:example.com', true],
  ['process:p_a', 'process:p_a/tree', true],
  ['process:p_a/tree', 'process:p_a', false],
  ['process:p_b', 'process:p_a/tree', false],
  ['tool:a', 'workflow:a', false],
] as const)('%s is narrower than %s: %s', ([a, b, expected]) => {
  expect(isNarrower(pattern(a), pattern(b))).toBe(expected)
})

test('a rule about what is executed gives the right to execute, any other the right to read', () => {
  expect(defaultRightOf('shell')).toBe('execute')
  expect(defaultRightOf('agent')).toBe('execute')
  expect(defaultRightOf('fs')).toBe('read')
  expect(defaultRightOf('secret')).toBe('read')
})
