import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readEnvFile } from '../../src/cli/env-file.ts'
import { tempFolder } from '../temp-folder.ts'

function fileWith(text: string): string {
  const file = join(tempFolder(), '.env')
  writeFileSync(file, text)
  return file
}

test('comments, blank lines, export, quotes and values of several lines are read', () => {
  const text = [
    '\ufeff# a comment',
    '',
    '  A=1 # not a part of it',
    'export B = two words',
    "C='it # is'",
    'D="first',
    'no assignment = here',
    'last"',
    'E=',
    "F=it's",
    'G=a=b',
  ].join('\r\n')
  expect(readEnvFile(fileWith(text))).toMatchObject({
    A: '1',
    B: 'two words',
    C: 'it # is',
    E: '',
    F: "it's",
    G: 'a=b',
  })
  expect(readEnvFile(fileWith('D="first\nlast"\nE=1\n'))).toEqual({ D: 'first\nlast', E: '1' })
})

test.each([
  ['no assignment', 'A=1\n\nSECRET\n', 'line 3: this is not NAME=value.'],
  ['no name', '=1\n', 'line 1: this is not NAME=value.'],
  ['a name with a space', 'A=1\nB C=1\n', 'line 2: this is not NAME=value.'],
  ['a name that begins with a digit', '1A=1\n', 'line 1: this is not NAME=value.'],
  ['a line behind a value of several lines', 'A="x\ny"\nSECRET\n', 'line 3: this is not NAME=value.'],
  [
    'a quote that is not closed',
    'A=1\nB="x\nC=1\n',
    'line 2: the quote that begins the value is not closed.',
  ],
])('%s is refused with the number of its line, and without its text', (_what, text, message) => {
  const file = fileWith(text)
  expect(() => readEnvFile(file)).toThrow(`--env-file ${file}, ${message}`)
  expect(() => readEnvFile(file)).not.toThrow('SECRET')
})
