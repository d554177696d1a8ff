import { expect, test } from 'vitest'
import { troublesOf } from '../../../src/core/trouble/trouble.ts'

const WELL = { store: null, secrets: null, policies: [], unrecordedEnds: 0, held: [], log: null }

test('without trouble the list is empty, even while ends are being recorded', () => {
  expect(troublesOf({ ...WELL, unrecordedEnds: 3 })).toEqual([])
})

test('each trouble has a code, its start time, a text and a remedy, the worst first', () => {
  const troubles = troublesOf({
    store: { since: 30, message: 'The disk is full.', remedy: 'Free some space.' },
    secrets: { since: 50, message: 'The file is for others, too.', remedy: 'Run chmod.' },
    policies: [],
    unrecordedEnds: 1,
    held: [
      { since: 20, bytes: 4_096 },
      { since: 10, bytes: 0 },
    ],
    log: { since: 40, message: 'ENOSPC', waiting: 1, lost: 2 },
  })
  expect(troubles).toEqual([
    {
      code: 'store_unwritable',
      since: 30,
      message:
        'Nothing new can be recorded: The disk is full. Reading and killing still work. 1 command ended, which is recorded when the store can be written.',
      remedy: 'Free some space.',
    },
    {
      code: 'secrets_unusable',
      since: 50,
      message:
        'The file is for others, too. Processes that name a secret fail to start, and values of the file are not masked by value.',
      remedy: 'Run chmod.',
    },
    {
      code: 'output_held_back',
      since: 10,
      message:
        'The output of 2 commands is held back, because the disk does not take it: they wait, and nothing is lost.',
      remedy: 'Free some disk space: they go on by themselves.',
    },
    {
      code: 'log_unwritten',
      since: 40,
      message: 'The log of the daemon cannot be written (ENOSPC): 1 line in memory, 2 lost.',
      remedy: 'Free some disk space, or look whether the log file can be written.',
    },
  ])
})
