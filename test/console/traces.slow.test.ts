import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, ConsoleGround } from './browser.ts';

interface SpanText {
  readonly id?: string;
  readonly parent?: string;
  readonly service?: string;
  readonly name: string;
  /** Milliseconds after the trace's start. */
  readonly at?: number;
  readonly ms: number;
  readonly error?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A trace as OpenTelemetry's exporters send it. */
function otlpOf(traceId: string, spans: readonly SpanText[]) {
  const startMs = Date.now() - 30_000;
  const attributesOf = (pairs: Readonly<Record<string, string>>) =>
    Object.entries(pairs).map(([key, value]) => ({ key, value: { stringValue: value } }));
  const services = [...new Set(spans.map(({ service = 'shop' }) => service))];
  return {
    resourceSpans: services.map((service) => ({
      resource: { attributes: attributesOf({ 'service.name': service }) },
      scopeSpans: [
        {
          spans: spans
            .filter((span) => (span.service ?? 'shop') === service)
            .map(({ id = newId(8), parent, name, at = 0, ms, error, attributes = {} }) => ({
              traceId,
              spanId: id,
              ...(parent === undefined ? {} : { parentSpanId: parent }),
              name,
              kind: parent === undefined ? 2 : 3,
              startTimeUnixNano: `${startMs + at}000000`,
              endTimeUnixNano: `${startMs + at + ms}000000`,
              attributes: attributesOf(attributes),
              ...(error === undefined ? {} : { status: { code: 2, message: error } }),
            })),
        },
      ],
    })),
  };
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

describe.skipIf(!browserProgram)(
  'traces in the console (skipped when there is no Chromium)',
  () => {
    let ground: ConsoleGround;
    let page: Page;
    const order = newId(16);
    const failed = newId(16);
    const large = newId(16);
    const orderRoot = newId(8);
    const charge = newId(8);

    const send = (traceId: string, spans: readonly SpanText[]) =>
      ground.ask(page, 'tracer/v1/traces', otlpOf(traceId, spans));

    /** Opens a page of the area and waits for what it is to show. */
    const open = async (path: string) => {
      await page.goto(`/traces${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    };

    beforeAll(async () => {
      ground = await ConsoleGround.open();
      page = await ground.openPage();
      await send(order, [
        { id: orderRoot, name: 'POST /order', ms: 400, attributes: { 'order.id': 'A-17' } },
        { parent: orderRoot, name: 'write log', at: 10, ms: 20 },
        { id: charge, parent: orderRoot, service: 'bank', name: 'charge', at: 20, ms: 300 },
        {
          parent: orderRoot,
          service: 'assistant',
          name: 'chat gpt-4o',
          at: 330,
          ms: 60,
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'gpt-4o',
            'gen_ai.usage.input_tokens': '812',
            'gen_ai.usage.output_tokens': '97',
          },
        },
      ]);
      const failedRoot = newId(8);
      await send(failed, [
        { id: failedRoot, name: 'POST /order', ms: 900, error: 'the bank said no' },
        {
          parent: failedRoot,
          service: 'bank',
          name: 'charge',
          at: 10,
          ms: 800,
          error: 'card declined',
          attributes: { 'error.type': 'CardDeclined' },
        },
      ]);
      const largeRoot = newId(8);
      await send(large, [
        { id: largeRoot, service: 'report', name: 'GET /report', ms: 6_000 },
        ...Array.from({ length: 4_999 }, (_, at) => ({
          parent: largeRoot,
          service: 'report',
          name: `read row ${at}`,
          at: at + 1,
          ms: 1,
        })),
      ]);
    });

    afterAll(() => ground[Symbol.asyncDispose]());

    test('finds traces by service and status, and the address is the search', async () => {
      await open('');
      await page.getByLabel('Service').fill('shop');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      const rows = page.getByRole('row').filter({ hasText: 'POST /order' });
      await expect.poll(() => rows.count()).toBe(2);
      await page.getByLabel('Status').selectOption('error');
      await expect.poll(() => rows.count()).toBe(1);
      expect(await rows.textContent()).toContain('card declined');
      expect(page.url()).toContain('service=shop&status=error');
      await page.reload();
      await expect.poll(() => rows.count()).toBe(1);
      await page.getByLabel('At least').fill('2 s');
      await page.getByLabel('At least').press('Enter');
      await page.getByRole('heading', { name: 'No trace matches' }).waitFor();
      await page.getByLabel('At least').fill('long');
      await page.getByLabel('At least').press('Enter');
      expect(await page.getByRole('alert').textContent()).toContain('“long” is no duration');
    });

    test('keeps what was found in view while the next search is on its way', async () => {
      await open('?service=shop');
      const rows = page.getByRole('row').filter({ hasText: 'POST /order' });
      await expect.poll(() => rows.count()).toBe(2);
      const asked = '**/api/v1/traces?*status=error*';
      let release = () => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route(asked, async (route) => {
        await released;
        await route.continue();
      });
      const request = page.waitForRequest(asked);
      await page.getByLabel('Status').selectOption('error');
      await request;
      expect(await rows.count()).toBe(2);
      release();
      await expect.poll(() => rows.count()).toBe(1);
      await page.unroute(asked);
    });

    test('opens a trace from its dot in the plot', async () => {
      await open('?service=shop&status=error');
      await page.getByRole('region', { name: 'Durations over time' }).locator('circle').click();
      await page.waitForURL(`**/traces/${failed}`);
      await page.getByText('card declined (CardDeclined)').waitFor();
    });

    test('pages through a long list', async () => {
      await Promise.all(
        Array.from({ length: 21 }, () => send(newId(16), [{ service: 'paged', name: 'p', ms: 1 }])),
      );
      await open('?service=paged&size=20');
      await page.getByText('Page 1 of 2').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('Page 2 of 2').waitFor();
      await expect.poll(() => page.getByRole('link', { name: 'p', exact: true }).count()).toBe(1);
      expect(page.url()).toContain('page=2');
    });

    test('shows the list where it was left to whoever comes back from a trace', async () => {
      await open('');
      const rows = page.getByRole('row').getByRole('link');
      await rows.nth(20).waitFor();
      // A search for the same again is no step of its own on the way back.
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await rows.nth(20).scrollIntoViewIfNeeded();
      const left = await page.evaluate('scrollY');
      expect(left).toBeGreaterThan(0);
      await rows.nth(20).click();
      await page.getByRole('button', { name: 'Copy trace id' }).waitFor();
      await page.goBack();
      await rows.nth(20).waitFor();
      await expect.poll(async () => page.evaluate('scrollY')).toBe(left);
    });

    test('shows the spans of a trace as a tree, and a span with its attributes', async () => {
      await open(`/${order}`);
      const items = page.getByRole('treeitem');
      await expect.poll(() => items.count()).toBe(4);
      await items.filter({ hasText: 'POST /order' }).click();
      const panel = page.getByRole('complementary', { name: 'Span' });
      await panel.getByText('order.id', { exact: true }).waitFor();
      expect(await panel.textContent()).toContain('A-17');
      // 400 ms, of which its children cover 10 to 320 and 330 to 390.
      expect(await panel.textContent()).toContain('Self time30.00 ms');
      await page.getByRole('tree').focus();
      await page.keyboard.press('ArrowDown');
      await panel.getByRole('heading', { name: 'write log' }).waitFor();
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => items.count()).toBe(1);
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => items.count()).toBe(4);
    });

    test('marks the critical path, and shows it alone', async () => {
      await open(`/${order}`);
      const items = page.getByRole('treeitem');
      await expect.poll(() => items.count()).toBe(4);
      expect(await items.filter({ hasText: 'charge' }).getAttribute('aria-label')).toContain(
        'on the critical path',
      );
      expect(await items.filter({ hasText: 'write log' }).getAttribute('aria-label')).toContain(
        'write log',
      );
      await page.getByLabel('Only the critical path').check();
      for (const item of await items.all()) {
        expect(await item.getAttribute('aria-label')).toContain('on the critical path');
      }
    });

    test('zooms into a span, and shows the whole time again', async () => {
      await open(`/${order}?span=${charge}`);
      const tree = page.locator('.span-head');
      await expect.poll(() => tree.textContent()).toContain('100 ms');
      await page.getByRole('button', { name: 'Zoom to it' }).click();
      await expect.poll(() => tree.textContent()).toContain('5.00 ms');
      await page.getByRole('button', { name: 'Show the whole time' }).click();
      await expect.poll(() => tree.textContent()).toContain('100 ms');
    });

    test('holds a trace of 5,000 spans with few rows at once, and finds one in it', async () => {
      await open(`/${large}`);
      await page.getByText('5,000').first().waitFor();
      const items = page.getByRole('treeitem');
      await items.first().waitFor();
      expect(await items.count()).toBeLessThan(100);
      await page.getByRole('tree').focus();
      await page.keyboard.press('End');
      const panel = page.getByRole('complementary', { name: 'Span' });
      await panel.getByRole('heading', { name: 'read row 4998' }).waitFor();
      await items.filter({ hasText: 'read row 4998' }).waitFor();
      await page.getByLabel('Search spans').fill('row 1234');
      await page.getByText('1 match', { exact: true }).waitFor();
      await page.getByLabel('Search spans').press('Enter');
      await panel.getByRole('heading', { name: 'read row 1234' }).waitFor();
      await items.filter({ hasText: 'read row 1234' }).waitFor();
    });

    test('says what made a trace slow, and what it would take with that twice as fast', async () => {
      await open(`/${failed}?tab=bottlenecks`);
      const card = page.getByRole('article', { name: 'bank: charge' }).first();
      await card.getByText('It failed, and none of its children did.').waitFor();
      await card.getByRole('button', { name: 'What if twice as fast?' }).click();
      await card.getByText('The trace would take 500 ms in place of 900 ms').waitFor();
      const form = page.getByRole('region', { name: 'What if' });
      await form.getByLabel('Named').selectOption('charge');
      await form.getByLabel('Were so many times as fast').fill('4');
      await form.getByRole('button', { name: 'Project' }).click();
      await form.getByText('The trace would take 300 ms').waitFor();
      await card.getByRole('button', { name: 'Show in waterfall' }).click();
      await page
        .getByRole('complementary', { name: 'Span' })
        .getByText('CardDeclined', { exact: true })
        .waitFor();
    });

    test('adds the spans of a trace up, and tells its calls of models', async () => {
      await open(`/${order}?tab=statistics`);
      await page.getByLabel('Service', { exact: true }).check();
      const shop = page.getByRole('row').filter({ hasText: 'shop' });
      await expect.poll(() => shop.textContent()).toContain('420 ms');
      await page.getByRole('tab', { name: 'Model calls' }).click();
      const call = page.getByRole('row').filter({ hasText: 'gpt-4o' });
      await call.waitFor();
      expect(await call.textContent()).toContain('812');
    });

    test.each(['OTLP', 'Jaeger'])('gives a trace as a file of %s', async (format) => {
      await open(`/${order}?tab=export`);
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: `Download ${format} JSON` }).click();
      const stream = await (await coming).createReadStream();
      let text = '';
      for await (const part of stream) text += String(part);
      expect(text).toContain(order);
      expect(JSON.parse(text)).toHaveProperty(format === 'OTLP' ? 'resourceSpans' : 'data');
    });

    test('takes a trace from a file, and says why it takes no other', async () => {
      await open('');
      const traceId = newId(16);
      const upload = (text: string) =>
        page.getByLabel('File with traces').setInputFiles({
          name: 'trace.json',
          mimeType: 'application/json',
          buffer: Buffer.from(text),
        });
      await upload('{"odd": true}');
      await page.getByRole('alert').waitFor();
      await upload(JSON.stringify(otlpOf(traceId, [{ name: 'imported', ms: 5 }])));
      await page.getByText('1 spans of 1 traces taken').waitFor();
      await open(`/${traceId}`);
      await page.getByRole('treeitem', { name: /imported/ }).waitFor();
    });

    test('compares two traces that are chosen in the list', async () => {
      await open('?service=shop&name=POST /order');
      for (const id of [order, failed]) {
        await page.getByLabel(`Compare POST /order ${id.slice(0, 8)}`).check();
      }
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByText('+500 ms').first().waitFor();
      await page.getByText('The other one takes longer.').waitFor();
      await page.getByRole('button', { name: 'Swap' }).click();
      await page.getByText('The other one is faster.').waitFor();
    });

    test('says that a trace does not exist', async () => {
      await open(`/${newId(16)}`);
      await page.getByRole('heading', { name: 'There is no such trace' }).waitFor();
      await open('/not-an-id');
      expect(await page.getByRole('alert').textContent()).toContain('traceId');
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    });

    test('follows new traces, and connects again after it was cut off', async () => {
      const cut: (() => void)[] = [];
      await page.routeWebSocket('**/traces/stream', (socket) => {
        const server = socket.connectToServer();
        cut.push(() => void socket.close({ code: 1001 }).then(() => server.close()));
      });
      await open('?service=followed&live=1');
      await page.getByText('following').waitFor();
      await send(newId(16), [{ service: 'followed', name: 'first', ms: 5 }]);
      await page.getByRole('link', { name: 'first', exact: true }).waitFor();
      cut[0]?.();
      await expect.poll(() => cut.length).toBe(2);
      await page.getByText('following').waitFor();
      await send(newId(16), [{ service: 'followed', name: 'second', ms: 5 }]);
      await page.getByRole('link', { name: 'second', exact: true }).waitFor();
      await page.unrouteAll();
    });

    test('leaves no traces of its own reading', async () => {
      await open('?service=tracer&name=GET /api/v1/traces');
      await page.getByRole('heading', { name: 'No trace matches' }).waitFor();
    });

    test('adds many traces up, and shows one operation over time', async () => {
      await open('/metrics?range=1h');
      await page.getByRole('button', { name: 'POST /order' }).click();
      await page.getByRole('region', { name: 'POST /order over time' }).waitFor();
      const chart = page.getByRole('figure', { name: 'Error rate' });
      await expect.poll(() => chart.getAttribute('aria-label')).toContain('50.0 %');
      await page.getByRole('tab', { name: 'What changed' }).click();
      await page.getByRole('row').filter({ hasText: 'bankcharge' }).waitFor();
      await page.getByRole('tab', { name: 'Errors' }).click();
      await page.getByRole('button', { name: 'CardDeclined' }).click();
      await page.getByRole('region', { name: 'Error log' }).getByText('card declined').waitFor();
      await page.getByRole('tab', { name: 'Models: usage and cost' }).click();
      await page.getByRole('row').filter({ hasText: 'gpt-4o' }).waitFor();
    });

    test('draws which service calls which', async () => {
      await open('/dependencies?range=1h');
      const graph = page.getByRole('region', { name: 'Service graph' });
      await graph.getByText('bank').click();
      const chosen = page.getByRole('region', { name: 'Chosen service' });
      await chosen.getByText('bank').waitFor();
      const calls = page.getByRole('row').filter({ hasText: 'shop' });
      expect(await calls.textContent()).toContain('50.0 %');
    });

    test('tries an alert on the past, makes, changes, pauses and deletes it', async () => {
      await open('/alerts');
      await page.getByRole('heading', { name: 'No alerts yet' }).waitFor();
      await page.getByRole('button', { name: 'New alert' }).click();
      const form = page.getByRole('form', { name: 'New alert' });
      await form.getByLabel('Name', { exact: true }).fill('Failing orders');
      await form.getByLabel('Time window').fill('soon');
      await form.getByLabel('Of the operation').fill('POST /order');
      await form.getByRole('button', { name: 'Create alert' }).click();
      expect(await form.getByRole('alert').textContent()).toContain(
        'whole number with s, m, h or d',
      );
      await form.getByLabel('Time window').fill('24h');
      await form.getByRole('button', { name: 'Dry run' }).click();
      await form.getByText(/It would (not )?have fired/).waitFor();
      await form.getByRole('button', { name: 'Create alert' }).click();
      const alert = page.getByRole('article', { name: 'Failing orders' });
      await alert.getByText('Error rate > 0.05 over 24h, of operation POST /order').waitFor();
      await alert.getByRole('button', { name: 'History' }).click();
      await alert.getByRole('region', { name: 'History' }).waitFor();
      await alert.getByRole('button', { name: 'Edit' }).click();
      const edit = page.getByRole('form', { name: 'Edit alert' });
      await edit.getByLabel(/^Is/).selectOption('lessThanOrEqual');
      await edit.getByRole('button', { name: 'Save alert' }).click();
      await alert.getByText('Error rate ≤ 0.05 over 24h').waitFor();
      await alert.getByRole('switch', { name: 'Enabled' }).click();
      await alert.getByText('paused').waitFor();
      await alert.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete alert' }).click();
      await page.getByRole('heading', { name: 'No alerts yet' }).waitFor();
    });

    test('shows an answer of a model through the gateway as a trace', async () => {
      const answer = await ground.ask(page, 'gateway/v1/chat/completions', {
        model: 'ennead-tiny',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 4,
      });
      expect(answer).toHaveProperty('choices');
      await open('?service=gateway&name=POST /v1/chat/completions&live=1');
      await page.getByRole('link', { name: 'POST /v1/chat/completions', exact: true }).click();
      await page.getByRole('tab', { name: 'Model calls' }).click();
      await page.getByRole('row').filter({ hasText: 'ennead-tiny' }).first().waitFor();
    });
  },
);
