import { expect, test } from 'vitest'
import { hintFor } from '../../../src/cli/print/hint.ts'

test('a hint repeats the --home and --url of the call', () => {
  const hint = 'Start it with reeve up, or see reeve ps -a; reeve of others is left as it is.'
  expect(hintFor({ home: undefined, url: undefined }, hint)).toBe(hint)
  expect(hintFor({ home: '/srv/my home', url: undefined }, hint)).toBe(
    "Start it with reeve --home '/srv/my home' up, or see reeve --home '/srv/my home' ps -a; reeve of others is left as it is.",
  )
  expect(hintFor({ home: undefined, url: 'http://127.0.0.1:7777' }, 'reeve logs -f web')).toBe(
    'reeve --url http://127.0.0.1:7777 logs -f web',
  )
})
