// The module `/x402/client.js`, made of `payer` by `node scripts/client-script.ts`: it pays for what a site sells. It is text, since
// visitors run it, in pages of their seller; who has a bundle imports the client from the SDK.

export const CLIENT_SCRIPT: string = `// Pays for what this site sells (x402). A page that imports it from a site trusts that site: programs import it from their SDK.
// sdk-core/src/bytes/latin1.ts
/** The arguments of one \`fromCharCode\` call: JavaScript engines limit them. */
var PART = 8192;
function decodeLatin1(bytes) {
	if (bytes.length <= PART) return String.fromCharCode.apply(null, bytes);
	let text = "";
	for (let at = 0; at < bytes.length; at += PART) text += decodeLatin1(bytes.subarray(at, at + PART));
	return text;
}
/** @param text code units up to 255, as in every value of \`Headers\` */
function encodeLatin1(text) {
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	return bytes;
}
// sdk-core/src/bytes/base64.ts
function toBase64(bytes) {
	return btoa(decodeLatin1(bytes));
}
/** @returns undefined when \`text\` is not base64 */
function fromBase64(text) {
	try {
		return encodeLatin1(atob(text));
	} catch {
		return;
	}
}
// sdk-core/src/payer/message.ts
/** Base64, or base64url, with or without its padding. */
var BASE64 = /^[A-Za-z\\d+/_-]+={0,2}$/;
/** @returns Base64 of the JSON of \`message\`, as fields carry it */
function encodeMessage(message) {
	return toBase64(new TextEncoder().encode(JSON.stringify(message)));
}
/** @returns undefined for text that is not a message */
function decodeMessage(text) {
	try {
		return JSON.parse(text.startsWith("{") ? text : decoded(text));
	} catch {
		return;
	}
}
function decoded(text) {
	const bytes = BASE64.test(text) ? fromBase64(text.replaceAll("-", "+").replaceAll("_", "/")) : void 0;
	return bytes ? new TextDecoder("utf-8", { fatal: true }).decode(bytes) : "";
}
// payment/src/networks.ts
/** The networks on which payments are made. */
var NETWORKS = {
	"sui:mainnet": {
		name: "Sui Mainnet",
		usdc: "0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC",
		chain: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S",
		began: 1681393657483,
		endpoints: ["https://fullnode.mainnet.sui.io:443"]
	},
	"sui:testnet": {
		name: "Sui Testnet",
		usdc: "0xa1ec7fc00a6f40db9693ad1415d0c193ad3906494428cf252621037bd7117e29::usdc::USDC",
		chain: "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD",
		began: Date.UTC(2023, 0),
		endpoints: ["https://fullnode.testnet.sui.io:443"]
	}
};
/** An address of the chain: 32 bytes in hexadecimal, with \`0x\`. Shorter ones, such as Ethereum's, are invalid. */
var ADDRESS = /^0x[0-9a-f]{64}$/i;
/**
* Returns whether a text is a valid recipient.
* @param text such as \`0x1eb7…\`; the zero address, which belongs to nobody, is invalid
*/
function isPaymentAddress(text) {
	return ADDRESS.test(text) && /[1-9a-f]/i.test(text.slice(2));
}
// payment/src/transaction-bytes.ts
/** The variants of a payment: the module of its functions, and how it refers to the first one's result. */
var VARIANTS = ["balance", "coin"].flatMap((module) => [true, false].map((isNested) => ({
	module,
	isNested
})));
var FRAMEWORK = \`0x\${"2".padStart(64, "0")}\`;
var ADDRESS_BYTES = 32;
/** The size of the period at the end of a transaction, in bytes. */
var PERIOD_BYTES = 58;
/** The size of each coin of a deposit among its inputs, with the following recipient, in bytes. */
var COIN_BYTES = 109;
var BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** @returns the transaction that redeems the amount from the sender's address balance and sends it to the recipient */
function paymentBytes({ sender, recipient, asset, amount }, period, { module, isNested } = VARIANTS[0]) {
	const type = structTag(asset);
	const result = isNested ? [
		3,
		...u16(0),
		...u16(0)
	] : [2, ...u16(0)];
	return transaction([[
		2,
		0,
		...u64(amount),
		0,
		...type,
		0
	], pureAddress(recipient)], [call(module, "redeem_funds", type, [input(0)]), call(module, "send_funds", type, [result, input(1)])], sender, period);
}
/** @returns the transaction that moves coins of the sender, each whole, into the sender's own address balance */
function depositBytes({ sender, asset }, coins, period) {
	const type = structTag(asset);
	return transaction(coins.flatMap((coin) => [ownedObject(coin), pureAddress(sender)]), coins.map((_, at) => call("coin", "send_funds", type, [input(2 * at), input(2 * at + 1)])), sender, period);
}
/** @returns the claimed period of a transaction; undefined unless it has a first and a last epoch */
function periodOf(bytes) {
	const end = bytes.subarray(-58);
	if (end.length < PERIOD_BYTES) return void 0;
	const view = new DataView(end.buffer, end.byteOffset, PERIOD_BYTES);
	return {
		minEpoch: view.getBigUint64(2, true),
		maxEpoch: view.getBigUint64(11, true),
		chain: toBase58(end.subarray(22, 54)),
		nonce: view.getUint32(54, true)
	};
}
/** @returns the coins that a deposit claims to move; only rebuilding it proves that it is one */
function coinsOf(bytes) {
	const [, , low = 0, high = 0] = bytes;
	const isLong = low >= 128;
	const count = (isLong ? low & 127 | high << 7 : low) / 2;
	const coins = [];
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	for (let at = isLong ? 4 : 3; coins.length < count && at + COIN_BYTES <= bytes.length; at += COIN_BYTES) coins.push({
		objectId: hex(bytes.subarray(at + 2, at + 34)),
		version: view.getBigUint64(at + 34, true),
		digest: toBase58(bytes.subarray(at + 43, at + 75))
	});
	return coins;
}
function isEqual(one, other) {
	return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
/** A transaction without gas, of version 1. */
function transaction(inputs, commands, sender, { minEpoch, maxEpoch, chain, nonce }) {
	const gas = [
		0,
		...address(sender),
		...u64(0n),
		...u64(0n)
	];
	const end = [
		2,
		...[
			1,
			...u64(minEpoch),
			1,
			...u64(maxEpoch)
		],
		0,
		0,
		...withLength(fromBase58(chain)),
		...u32(nonce)
	];
	return Uint8Array.from([
		0,
		0,
		...list(inputs),
		...list(commands),
		...address(sender),
		...gas,
		...end
	]);
}
function call(module, name, type, parameters) {
	return [
		0,
		...address(FRAMEWORK),
		...text(module),
		...text(name),
		...list([type]),
		...list(parameters)
	];
}
function input(at) {
	return [1, ...u16(at)];
}
function pureAddress(of) {
	return [0, ...withLength(address(of))];
}
function ownedObject({ objectId, version, digest }) {
	return [
		1,
		0,
		...address(objectId),
		...u64(version),
		...withLength(fromBase58(digest))
	];
}
function structTag(type) {
	const [of = "", module = "", name = ""] = type.split("::");
	return [
		7,
		...address(of),
		...text(module),
		...text(name),
		0
	];
}
function address(of) {
	const digits = of.slice(2).padStart(64, "0");
	return Array.from({ length: ADDRESS_BYTES }, (_, at) => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16));
}
function text(ascii) {
	return withLength(Array.from(ascii, (character) => character.charCodeAt(0)));
}
function list(items) {
	return [...length(items.length), ...items.flat()];
}
function withLength(bytes) {
	return [...length(bytes.length), ...bytes];
}
/** ULEB128: seven bits in each byte. */
function length(of) {
	return of < 128 ? [of] : [of & 127 | 128, ...length(of >> 7)];
}
function u16(value) {
	return littleEndian(BigInt(value), 2);
}
function u32(value) {
	return littleEndian(BigInt(value), 4);
}
function u64(value) {
	return littleEndian(value, 8);
}
function littleEndian(value, bytes) {
	return Array.from({ length: bytes }, (_, at) => Number(value >> BigInt(8 * at) & 255n));
}
/** The digests of the chain are 32 bytes in Base58. */
function fromBase58(digest) {
	return littleEndian(Array.from(digest).reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n), ADDRESS_BYTES).reverse();
}
function toBase58(bytes) {
	let value = BigInt(hex(bytes));
	let digits = "";
	for (; value > 0n; value /= 58n) digits = BASE58[Number(value % 58n)] + digits;
	const zeros = bytes.findIndex((byte) => byte !== 0);
	return "1".repeat(zeros < 0 ? bytes.length : zeros) + digits;
}
function hex(bytes) {
	return \`0x\${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}\`;
}
// payment/src/prepared.ts
var DAY_MS = 864e5;
/**
* @param now milliseconds since 1970
* @returns whether \`bytes\` are this payment and nothing else, valid now and for the next epoch at most
*/
function isPayment(bytes, transfer, network, now) {
	const period = periodIn(bytes, network, now);
	return period !== void 0 && VARIANTS.some((variant) => isEqual(bytes, paymentBytes(transfer, period, variant)));
}
/** @returns whether \`bytes\` move coins of the sender into the sender's own address balance and do nothing else, valid as a payment */
function isDeposit(bytes, of, network, now) {
	const period = periodIn(bytes, network, now);
	const coins = coinsOf(bytes);
	if (period === void 0 || coins.length === 0 || coins.length > 64) return false;
	return isEqual(bytes, depositBytes(of, coins, period));
}
/**
* The chain allows at most two epochs. An epoch lasts at least a day, so the clock bounds the current one.
* Returns undefined for wall-clock times, which no network accepts.
*/
function periodIn(bytes, network, now) {
	const { chain, began } = NETWORKS[network];
	const period = periodOf(bytes);
	const latest = BigInt(Math.floor((now + DAY_MS - began) / DAY_MS));
	if (period === void 0 || period.minEpoch > latest || period.chain !== chain) return void 0;
	const epochs = period.maxEpoch - period.minEpoch;
	return epochs === 0n || epochs === 1n ? period : void 0;
}
// sdk-core/src/errors.ts
/**
* Every error of the SDK is an SvcError: \`code\` is stable and for programs, the message is for people, \`cause\` is the underlying
* error beneath it.
*/
var SvcError = class extends Error {
	name = "SvcError";
	code;
	retryAfterMs;
	constructor(code, message, options = {}) {
		super(message, options.cause === void 0 ? void 0 : { cause: options.cause });
		this.code = code;
		this.retryAfterMs = options.retryAfterMs;
	}
};
// sdk-core/src/payer/amount.ts
/** A decimal number without sign, exponent or leading zeros. */
var DECIMAL = /^(0|[1-9]\\d*)(?:\\.(\\d+))?$/;
/** Amounts on the chain have 64 bits. */
var UNITS_MAX = 2n ** 64n - 1n;
/**
* @param text such as \`0.01\`
* @param decimals the number of decimal places of the asset
* @returns the whole number of smallest units, as decimal digits
* @throws SvcError \`invalid_option\` for text that is not such an amount, has more decimal places than the asset, or is 0
*/
function smallestUnits(text, decimals) {
	const [, whole, fraction = ""] = typeof text === "string" && DECIMAL.exec(text) || [];
	if (whole === void 0) throw wrong(text, "is not a decimal string such as \\"0.01\\"");
	if (fraction.length > decimals) throw wrong(text, \`has \${fraction.length} decimal places, and the asset has \${decimals}\`);
	const units = whole.length > 20 ? UNITS_MAX + 1n : BigInt(whole + fraction.padEnd(decimals, "0"));
	if (units === 0n) throw wrong(text, "is zero: leave the route out to make it free");
	if (units > UNITS_MAX) throw wrong(text, "is more than the chain can hold");
	return String(units);
}
function wrong(text, why) {
	return new SvcError("invalid_option", \`amount \${JSON.stringify(text) ?? String(text)} \${why}\`);
}
// sdk-core/src/payer/terms.ts
var AMOUNT = /^[1-9]\\d{0,19}$/;
/**
* @param maxAmount in USDC, as decimal text
* @throws SvcError \`payment_refused\`, or \`invalid_option\` when \`maxAmount\` is invalid
*/
function readTerms({ headers }, maxAmount) {
	const limit = maxAmount === void 0 ? void 0 : BigInt(smallestUnits(maxAmount, 6));
	const { accepts, resource } = fieldsOf(decodeMessage(headers.get("payment-required") ?? headers.get("x-payment-required") ?? ""));
	for (const accepted of Array.isArray(accepts) ? accepts : []) {
		const { scheme, network, asset, amount, payTo } = fieldsOf(accepted);
		if (scheme !== "exact" || typeof network !== "string" || !Object.hasOwn(NETWORKS, network)) continue;
		if (asset !== NETWORKS[network].usdc) continue;
		if (typeof amount !== "string" || !AMOUNT.test(amount)) continue;
		if (typeof payTo !== "string" || !isPaymentAddress(payTo)) continue;
		if (limit !== void 0 && BigInt(amount) > limit) throw refused(\`this costs more than \${maxAmount} USDC\`);
		return {
			network,
			recipient: payTo.toLowerCase(),
			asset,
			amount: BigInt(amount),
			accepted,
			resource
		};
	}
	throw refused("this site wants a kind of payment that this client does not support");
}
function refused(message) {
	return new SvcError("payment_refused", message);
}
function fieldsOf(value) {
	return typeof value === "object" && value !== null ? value : {};
}
// sdk-core/src/payer/prepared.ts
/** How often the client asks the site whether coins have arrived, and the milliseconds in between. */
var POLLS = 20;
var POLL_MS = 1e3;
/**
* Gets the payment; if needed, it first moves coins of the payer to where they can be spent.
* @returns the payment, in Base64
* @throws SvcError \`payment_refused\`, \`payments_unavailable\`, or the error of the wallet
*/
async function preparedPayment(request, terms, wallet, onStatus) {
	const sender = wallet.address.toLowerCase();
	for (let polls = 0;; polls += 1) {
		const { paymentTransaction, prepareTransaction } = await ask(request, sender);
		if (prepareTransaction === void 0) {
			const bytes = bytesOf(paymentTransaction);
			if (!isPayment(bytes, {
				...terms,
				sender
			}, terms.network, Date.now())) throw refused("the site prepared another transaction than the payment that it asked for; nothing was signed");
			return toBase64(bytes);
		}
		if (polls === 0) {
			const bytes = bytesOf(prepareTransaction);
			if (!isDeposit(bytes, {
				sender,
				asset: terms.asset
			}, terms.network, Date.now())) throw refused("the site prepared a transaction that does not just gather your own coins; nothing was signed");
			if (!wallet.execute) throw refused("the wallet cannot move its coins to where they can be paid from");
			onStatus("Please let your wallet make the money ready …");
			await wallet.execute(toBase64(bytes));
		} else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
		if (polls === POLLS) throw new SvcError("payments_unavailable", "the money is not ready yet; please try again later");
	}
}
async function ask({ url, method }, sender) {
	const { origin, pathname: path } = new URL(url);
	const response = await fetch(\`\${origin}/x402/prepare\`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({
			sender,
			method,
			path
		})
	});
	const answer = fieldsOf(await response.json().catch(() => void 0));
	if (!response.ok) throw new SvcError("payments_unavailable", \`the payment could not be prepared: \${answer.message ?? response.status}\`);
	return answer;
}
function bytesOf(prepared) {
	const { transaction } = fieldsOf(prepared);
	return typeof transaction === "string" && fromBase64(transaction) || /* @__PURE__ */ new Uint8Array();
}
// sdk-core/src/payer/wallets.ts
var found = /* @__PURE__ */ new Set();
var isLooking = false;
/** Returns the wallets of this browser that can sign payments, including late announcements. */
function wallets() {
	look();
	return [...found].filter(({ features }) => features["standard:connect"] !== void 0 && features["sui:signTransaction"] !== void 0);
}
/**
* Asks the person for an account, and returns the wallet for \`x402Fetch\`.
* @param network such as \`sui:mainnet\`
* @throws SvcError \`payment_refused\` when the wallet has no account there, or the error of the wallet
*/
async function connect(wallet, network) {
	const features = wallet.features;
	const { accounts = wallet.accounts } = await features["standard:connect"].connect();
	const account = accounts.find(({ chains }) => chains.includes(network));
	if (!account) throw refused(\`The wallet \${wallet.name} has no account on \${network}\`);
	const input = (transaction) => ({
		transaction: { toJSON: async () => transaction },
		account,
		chain: network
	});
	const executes = features["sui:signAndExecuteTransaction"];
	return {
		address: account.address,
		async sign(transaction) {
			const { bytes, signature } = await features["sui:signTransaction"].signTransaction(input(transaction));
			if (bytes !== void 0 && bytes !== transaction) throw refused("The wallet signed something else");
			return signature;
		},
		...executes && { execute: (transaction) => executes.signAndExecuteTransaction(input(transaction)) }
	};
}
/** Wallets and pages find each other by two events. A wallet that is already loaded answers at once. */
function look() {
	if (isLooking || !("document" in globalThis)) return;
	isLooking = true;
	const registry = { register(...added) {
		for (const wallet of added) found.add(wallet);
		return () => {
			for (const wallet of added) found.delete(wallet);
		};
	} };
	addEventListener("wallet-standard:register-wallet", (event) => event.detail(registry));
	dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: registry }));
}
// sdk-core/src/payer/fetch.ts
/** How often a payment whose outcome is unknown is sent: it is never charged twice. */
var CALLS = 5;
/**
* Fetches as \`fetch\` does, and pays when the site answers 402: once, for one response. The payment is compared byte for byte with
* one that is built here: its sender, recipient, coin, amount and expiry. A site that prepares anything else gets no signature.
* @throws SvcError \`payment_refused\` when the price or the transaction to sign is wrong; \`payments_unavailable\` when the site
*   prepares no payment; \`invalid_option\` for an invalid \`maxAmount\`. Also the errors of \`fetch\` and of the wallet
*/
async function x402Fetch(input, init, { wallet, maxAmount, onStatus = () => {} } = {}) {
	const request = new Request(input, init);
	const first = await fetch(request.clone());
	if (first.status !== 402) return first;
	const terms = readTerms(first, maxAmount);
	await first.body?.cancel();
	onStatus("Connecting with the wallet …");
	const payer = wallet ?? await connect(firstWallet(), terms.network);
	const transaction = await preparedPayment(request, terms, payer, onStatus);
	onStatus("Please agree to the payment in your wallet …");
	const signature = await payer.sign(transaction);
	const { resource, accepted } = terms;
	const payment = encodeMessage({
		x402Version: 2,
		resource,
		accepted,
		payload: {
			signature,
			transaction
		}
	});
	onStatus("Paying …");
	return send(request, payment);
}
/** Returns what was paid for a response, as the site reports it; undefined when nothing was. */
function settlementOf({ headers }) {
	const text = headers.get("payment-response");
	return text === null ? void 0 : decodeMessage(text);
}
function firstWallet() {
	const [wallet] = wallets();
	if (!wallet) throw refused("No wallet was found. Install a Sui wallet in this browser, and load the page again.");
	return wallet;
}
async function send(request, payment) {
	for (let calls = 1;; calls += 1) {
		const paying = request.clone();
		paying.headers.set("PAYMENT-SIGNATURE", payment);
		const response = await fetch(paying);
		if (response.status !== 503 || calls === CALLS) return response;
		await response.body?.cancel();
		const seconds = Number(response.headers.get("retry-after") ?? 1);
		await new Promise((resolve) => setTimeout(resolve, 1e3 * seconds));
	}
}
// sdk-core/src/payer/module.ts
/** Pays for a page, and replaces this one with it. */
async function payAndShow(url, onStatus) {
	const { document, location } = globalThis;
	const response = await x402Fetch(url, { headers: { Accept: "text/html,*/*;q=0.8" } }, { onStatus });
	if (response.status === 402) {
		const { error } = fieldsOf(decodeMessage(response.headers.get("payment-required") ?? ""));
		throw new Error(\`The payment was not accepted: \${error}\`);
	}
	if (!response.ok) throw new Error(\`The site failed, and nothing was charged for its answer (\${response.status})\`);
	if (!/^text\\/html\\b/i.test(response.headers.get("content-type") ?? "")) return location.replace(URL.createObjectURL(await response.blob()));
	const html = await response.text();
	document.open();
	document.write(html);
	document.close();
}
export { connect, payAndShow, settlementOf, wallets, x402Fetch };
`
