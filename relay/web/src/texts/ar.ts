// The texts of the landing page in Arabic.
import type { SiteState } from '@svc/sdk-browser'
import type { Kind } from '../landing/demos/demo.ts'
import type { Translation } from './translation.ts'

const rules = new Intl.PluralRules('ar')

/** @param forms for none, one, two, few (3 to 10), many (11 to 99) and all other counts, without the number for one and two */
function counted(count: number, one: string, two: string, few: string, many: string, other: string): string {
  const form = rules.select(count)
  if (form === 'one') return one
  if (form === 'two') return two
  return `${count} ${form === 'few' ? few : form === 'many' ? many : other}`
}

const seconds = (count: number): string => counted(count, 'ثانية واحدة', 'ثانيتين', 'ثوانٍ', 'ثانية', 'ثانية')

const ABOUT: Readonly<Record<SiteState, string>> = {
  connecting: '',
  waiting: 'لا يستطيع الزوار الاتصال بعد.',
  online: 'متاحة ما دام هذا التبويب مفتوحًا.',
  reconnecting: 'لا يستطيع الزوار الاتصال الآن.',
  closed: '',
}
const USE: Readonly<Record<Kind, string>> = {
  note: 'افتحها على هاتفك أو أرسلها إلى صديق.',
  folder: 'افتحها على هاتفك أو أرسلها إلى صديق.',
  webhook: 'أعطِ العنوان للخدمة التي ترسل الطلبات.',
  chat: 'أرسل العنوان إلى من تريد التحدث معهم.',
  tools: 'أعطِ العنوان لمساعد كما هو مبيّن أدناه.',
}
const ONLY_HERE = 'المرحِّل يعمل على localhost، فلا يفتح العنوانَ إلا هذا الجهاز.'

const attempt = (wait: number): string =>
  wait > 0 ? `المحاولة التالية بعد ${seconds(wait)}.` : 'محاولة جديدة …'

export const TRANSLATION: Translation = {
  COMMON: {
    name: 'svc',
    sites: 'المواقع',
    relays: 'المرحِّلات',
    examples: 'أمثلة',
    documentation: 'التوثيق',
    admin: 'الإدارة',
    authority: 'الثقة بهذا المرحِّل',
    navigation: 'الصفحات',
    skip: 'انتقل إلى المحتوى',
    copy: 'نسخ',
    copied: 'تم النسخ',
    copyRefused: 'غير مسموح',
    show: 'إظهار',
    showSecret: (label) => `إظهار: ${label}`,
    cancel: 'إلغاء',
    sure: 'هل أنت متأكد؟',
    yes: 'نعم',
    close: 'إغلاق',
    loading: 'جارٍ التحميل …',
    notLoaded: 'تعذّر تحميل هذه الصفحة. أعد التحميل للمحاولة من جديد.',
    noAnswer: 'المرحِّل لا يجيب.',
    unreachable: 'المرحِّل لا يجيب. تعرض الصفحة بيانات أقدم وتحاول من جديد.',
  },

  FACTS: { no: 'لا' },

  WHO_SEES: {
    title: 'من يرى ماذا',
    columns: ['هذا التبويب', 'المرحِّل', 'الزائر'],
    rows: [
      { what: 'الأسماء والعناوين والأحجام والأوقات', facts: ['نعم', 'نعم', 'نعم'] },
      { what: 'الطلبات والردود', facts: ['نعم', 'لا', 'نعم'] },
      { what: 'مفاتيح الاتصال', facts: ['نعم', 'لا', 'نعم'] },
      { what: 'ملفات لم يطلبها أحد', facts: ['نعم', 'لا', 'لا'] },
    ],
    note: 'هناك استثناء واحد: قد يطلب موقعٌ من مرحِّله أن يخزّن ملفاته. وما دامت الملفات عنده يستطيع أن يقرأ حركة الزيارات على العنوان الأساسي لذلك الموقع. ما تنشره من هذه الصفحة لا يطلب ذلك.',
  },

  COMPARISON: {
    title: 'مقارنة بالأنفاق الأخرى',
    columns: ['svc', 'ngrok', 'Cloudflare Tunnel', 'Tailscale Funnel'],
    rows: [
      { what: 'ينشر من صفحة ويب', facts: ['نعم', 'لا', 'لا', 'لا'] },
      { what: 'يعمل بلا حساب', facts: ['نعم', 'لا', 'نعم، للأنفاق السريعة', 'لا'] },
      { what: 'الوسيط لا يقرأ HTTPS', facts: ['نعم', 'لا؛ نعم لنقاط TLS', 'لا', 'نعم'] },
      { what: 'يمكنك تشغيل الخادم بنفسك', facts: ['نعم', 'لا', 'لا', 'لا'] },
      { what: 'TCP لأي برنامج', facts: ['نعم', 'نعم', 'لا: يحتاج إلى برنامجه', 'نعم، فوق TLS'] },
      { what: 'نطاق خاص بك', facts: ['نعم، بمفتاحك أنت', 'نعم', 'نعم', 'لا'] },
      { what: 'بروتوكول UDP', facts: ['نعم', 'لا', 'لا', 'لا'] },
      { what: 'خادم عام يشغّله آخرون', facts: ['لا، ليس بعد', 'نعم', 'نعم', 'نعم'] },
      { what: 'خوادم في كل القارات', facts: ['لا', 'نعم', 'نعم', 'نعم'] },
      { what: 'سنوات من الخدمة', facts: ['لا، الإصدار 0.1', 'نعم', 'نعم', 'نعم'] },
    ],
    note: 'بحسب التوثيق المعلن لكلٍّ منها. أخبرنا بما لم يعد صحيحًا.',
  },

  WEBHOOK: { received: 'وصل' },

  NOTE: {
    visitor: (visit) => `أنت الزائر رقم ${visit}. جاءت هذه الصفحة مباشرة من تبويب متصفح شخص ما.`,
    notFound: 'غير موجود',
    firstPage: 'لهذا الموقع صفحة واحدة فقط، وهي هنا:',
    onlyGet: 'GET و HEAD فقط',
  },

  SITE_STATES: {
    connecting: 'يتصل',
    waiting: 'ينتظر',
    online: 'متاح',
    reconnecting: 'يعيد الاتصال',
    closed: 'مغلق',
  },

  WAITING: {
    approval: 'على مشغّل المرحِّل أن يوافق على هذا الموقع أولًا.',
    rate_limited: 'طلب المرحِّل الانتظار.',
    relay_full: 'لا مكان في المرحِّل الآن.',
    certificate: 'ينتظر الموقع شهادته.',
    next: (time) => ` (المحاولة التالية ${time})`,
  },

  LANDING: {
    title: 'تبويبك هو خادم الويب',
    lead: 'اكتب شيئًا واضغط «نشر»: يحصل على عنوان HTTPS عام ما دام هذا التبويب مفتوحًا، بلا حساب ولا تثبيت ولا فتح منافذ.',
    relayTitle: 'المرحِّل',
    relaySees: 'يصل الزائر بهذا التبويب. وهذا كل ما يراه من الزيارة:',
    nothingYet: 'لا بيانات بعد.',
    carried: (amount) => `${amount} حتى الآن، وكلّها مشفَّرة.`,
    visitors: {
      note: { title: 'زائر', sees: '' },
      folder: { title: 'زائر', sees: 'ملفاتك جاهزة للتنزيل' },
      webhook: { title: 'خدمة', sees: 'POST /' },
      chat: { title: 'زائر', sees: 'دردشة معك ومع كل من لديه العنوان' },
      tools: { title: 'مساعد', sees: '«اسألني شيئًا بأداتك ask».' },
    },
    preview: 'اضغط «نشر» فيصبح لهذا عنوان.',
    openIt: (kind, isForAll) =>
      kind === 'webhook' || kind === 'tools'
        ? 'لا طلب بعد.'
        : isForAll
          ? 'امسح الرمز أو افتح العنوان.'
          : 'افتح العنوان في تبويب آخر.',
    tabReads: 'آخر طلب كما يقرؤه هذا التبويب:',
    elsewhere: 'طرق أخرى للنشر',

    publishTitle: 'هذا التبويب',
    kindsLabel: 'ماذا تنشر',
    kinds: {
      note: { name: 'ملاحظة', about: '' },
      folder: {
        name: 'مجلد',
        about: 'ينزّل الزوار مباشرة من هذا التبويب. لا يُرفع شيء.',
      },
      webhook: {
        name: 'Webhooks',
        about: 'يعرض كل طلب ترسله خدمة ويعيد إرساله.',
      },
      chat: {
        name: 'دردشة',
        about: 'يفتح الزوار العنوان ويتحدثون معك ومع بعضهم. ما يقال لا يمر إلا عبر هذا التبويب.',
      },
      tools: {
        name: 'أدوات',
        about: 'خادم أدوات (MCP): يعرض لك مساعدٌ نصًا في هذا التبويب أو يسألك ويأخذ جوابك.',
      },
    },
    note: 'نص أو HTML',
    firstNote: 'مرحبًا من تبويب متصفح',
    name: 'الاسم',
    nameByChance: 'عشوائي',
    secretByChance: 'بلا اسم لا يخمّن أحدٌ العنوان، ولكل تبويب عنوان آخر.',
    noName: 'الاسم من 1 إلى 22 من الحروف اللاتينية والأرقام والشرطات، ولا شرطة في أوله ولا في آخره.',
    keepName: 'احتفظ باسمي',
    keepNameAbout:
      'يحتفظ هذا المتصفح بالمفتاح الذي يملك الاسم: تحصل على العنوان نفسه في المرة القادمة، ولا يحصل عليه غيرك.',
    nameCanBeGuessed: 'من يخمّن الاسم يستطيع الدخول. اتركه فارغًا ليكون لك عنوان لا يخمّنه أحد.',
    listed: 'أظهره في قائمة المواقع',
    options: 'خيارات',
    password: 'كلمة مرور للزوار',
    passwordAbout: 'إن تُركت فارغة فلا يحتاج الزوار إليها.',
    passwordRefused: 'لا تصلح هذه كلمةَ مرور: لها شكل قيمة تجزئة أو تزيد على 1024 حرفًا.',
    ends: 'يُغلق',
    never: 'عند إغلاق هذا التبويب',
    after: (hours) =>
      hours === 24 ? 'بعد يوم' : `بعد ${counted(hours, 'ساعة', 'ساعتين', 'ساعات', 'ساعة', 'ساعة')}`,
    endsAt: (time) => `يُغلق عند ${time}.`,
    over: 'أُغلق الموقع: انتهى وقته.',
    hasPassword: 'يحتاج الزوار إلى كلمة المرور.',
    invitation: 'دعوة',
    invitationAbout: 'يعطيها مشغّل المرحِّل. يحتاج إليها هذا المتصفح مرة واحدة.',
    asking: 'اسألني عن كل زائر',
    chatHost: 'المضيف',
    knocks: 'زوار ينتظرون',
    noKnocks: 'لا أحد ينتظر. يرى الزائر رقمًا من أربع خانات: اسأله عنه فتعرف من هو.',
    knock: (code) => `الزائر ${code} ينتظر`,
    unknownAddress: 'عنوان غير معروف',
    admit: 'أدخِله',
    admitAlways: 'دائمًا',
    refuse: 'ارفضه',
    refuseAlways: 'أبدًا',
    publish: 'نشر',
    arrived: (name) => `شورك ${name} مع هذه الصفحة. اضغط «نشر» ليصبح له رابط.`,
    arrivedForFolder: (name) => `شورك ${name} مع هذه الصفحة.`,
    arrivedForLater: (name) => `شورك ${name} مع هذه الصفحة. أوقف هذا الموقع أولًا ثم تستطيع نشره.`,
    notArrived: {
      nothing: 'لم يصل ما شاركته: ربما يزيد على 256 MiB، أو ثُبّت التطبيق قبل لحظة. اختره هنا.',
      refused:
        'لم يصل ما شاركته: لم يكن التطبيق مستعدًا له، فذهب إلى المرحِّل الذي أهمله دون قراءته. شاركه مرة أخرى، أو اختره هنا.',
    },
    publishToo: 'انشره أيضًا',
    aText: 'نص',
    andMore: (name, count) => `${name} و${counted(count, 'واحد آخر', 'اثنان آخران', 'أخرى', 'آخر', 'أخرى')}`,
    screen: 'أبقِ الشاشة مضاءة',
    screenRefused: 'لا يُبقي الجهاز الشاشة مضاءة الآن، ربما ليوفّر طاقته.',
    publishing: 'جارٍ النشر …',
    addressIsPublic:
      'على هذا المرحِّل يحتاج كل موقع إلى شهادة خاصة به، والأسماء في الشهادات مدرجة في سجلات عامة: من يقرؤها يجد العنوان. اضغط «نشر» مرة أخرى لتفعل ذلك مع ذلك.',
    errors: {
      invitation_required: 'لا يسمح هذا المرحِّل لأحد بالنشر بلا دعوة.',
      relay_unreachable: 'المرحِّل لا يجيب. اضغط «نشر» للمحاولة من جديد.',
      offline: 'أنت غير متصل بالشبكة. اضغط «نشر» حين تعود.',
      hostname_conflict: 'هذا الاسم لغيرك، وربما لمتصفح آخر عندك. اختر اسمًا آخر.',
      name_reserved: 'يحجز المرحِّل هذا الاسم لنفسه. اختر اسمًا آخر.',
      name_in_other_tab: 'يستعمل تبويب آخر عندك هذا الاسم. اختر اسمًا آخر.',
      lease_replaced: 'أخذت صفحة أخرى بالمفتاح نفسه هذا الاسم. انشر من جديد لتستعيده.',
      files_gone: 'لم يحتفظ هذا المتصفح بالملفات. اخترها من جديد.',
      visitor_failed: 'غادر متصفح زائر قبل أن يرى الصفحة. ربما لا يثق بشهادة هذا المرحِّل.',
      handler_failed: 'حصل زائر على خطأ بدل الرد.',
      identity_unavailable:
        'لا يحتفظ هذا المتصفح بمفاتيح لهذه الصفحة، ربما لأن النافذة خاصة. انشر بدون «احتفظ باسمي» (في الخيارات).',
      rate_limited: 'محاولات كثيرة. انتظر دقيقة ثم اضغط «نشر».',
      relay_full: 'لا مكان في المرحِّل الآن. حاول لاحقًا.',
      metadata_refused: 'لا يعرض المرحِّل وصف هذا الموقع.',
      name_had_other_owner: 'كان هذا الاسم لغيرك من قبل: قد تكون في متصفحات زواره ملفات ارتباطه وصفحاته.',
      incompatible_relay: 'هذه الصفحة من إصدار غير إصدار المرحِّل. أعد تحميلها.',
      unsupported_platform: 'هذا المتصفح أقدم من أن ينشر. متصفح حديث يستطيع.',
    },
    failed: (code) => `لم ينجح ذلك. اضغط «نشر» للمحاولة من جديد.${code === undefined ? '' : ` (${code})`}`,
    stop: 'إيقاف',
    nextAttempt: (time) => `عند ${time}`,
    copyUrl: 'انسخ العنوان',
    copyShareUrl: 'انسخ رابط المشاركة',
    share: 'يعمل هذا الرابط والتبويب مغلق أيضًا: ينتظر في متصفح الزائر ويفتح الموقع حين يعود.',
    qr: (url) => `رمز QR للعنوان ${url}`,
    about: (state, kind, isForAll) =>
      state === 'online' ? `${ABOUT.online} ${isForAll ? USE[kind] : ONLY_HERE}` : ABOUT[state],
    offline: (wait) => `أنت غير متصل بالشبكة. ${attempt(wait)}`,
    relayGone: (wait) => `لا يستطيع الزوار الاتصال: المرحِّل لا يجيب. ${attempt(wait)}`,
    keptRequests:
      'يحتفظ هذا التبويب بآخر 100 طلب، حتى عند إعادة التحميل، إلى أن توقف الموقع أو تغلق التبويب.',
    forget: 'انسَها الآن',
    visits: 'الزيارات',
    noVisits: 'لا أحد بعد.',
    chooseFiles: 'اختر ملفات',
    chooseFolder: 'اختر مجلدًا',
    dropHere: 'أو أفلت ملفات أو مجلدًا هنا.',
    noFiles: 'اختر ملفًا أو مجلدًا أولًا: لا يُنشر مجلد فارغ.',
    notRead: 'تعذّرت قراءته أو فيه أكثر من 20000 ملف. اختر المجلد بدلًا منه.',
    clearFiles: 'أزل الكل',
    fileCount: (count, names) => `${counted(count, 'ملف واحد', 'ملفان', 'ملفات', 'ملفًا', 'ملف')}: ${names}`,
    moreOf: {
      note: { text: 'مثال: صفحة مع معالج' },
      folder: { text: 'مثال: مجلد يعرض كل تنزيل' },
      webhook: { text: 'مثال: Webhooks مع ردود تختارها' },
      chat: { text: 'مثال: الدردشة في صفحة مستقلة' },
      tools: { text: 'خوادم الأدوات في التوثيق' },
    },

    waysLabel: 'من أين',
    ways: { page: 'صفحة', svc: 'svc', mcp: 'MCP' },
    toolAbout:
      'صفحة هي خادم أدوات: ينادي المساعدون أدواتها وتعمل في التبويب. السطر الذي تعرضه يضيفها إلى Claude Code.',
    copyTool: 'انسخ شيفرة خادم الأدوات',
    shellAbout: 'منفذ في جهازك، بالأمر svc:',
    copyCommand: 'انسخ الأمر',
    installTitle: 'تثبيت svc',
    installSh: 'على macOS و Linux، في الطرفية:',
    copyInstallSh: 'انسخ السطر الذي يثبّت svc على macOS و Linux',
    installPs1: 'على Windows، في PowerShell:',
    installPs1Trusted: 'على Windows، في PowerShell، إن كان الجهاز يثق بسلطة هذا المرحِّل:',
    copyInstallPs1: 'انسخ السطر الذي يثبّت svc على Windows',
    noDownloads:
      'لا يقدّم هذا المرحِّل svc للتنزيل. في نسخة من المشروع يشغّله npx svc، ويبني npm run binaries التنزيلات.',
    ownAuthority: (file) => `لهذا المرحِّل سلطة شهادات خاصة به: ${file} هو مسار شهادتها.`,
    toAuthority: 'نزّلها أو اجعل متصفحك يثق بها',

    codeAbout:
      'استيراد واحد يجلب الحزمة إلى أي صفحة، بلا بناء. كل متصفح يشغّلها يحصل على عنوان خاص به ويحتفظ به:',
    copyCode: 'انسخ الشيفرة',
    pinTitle: 'مع التحقق: لا يعمل إلا هذا الإصدار من الحزمة',
    pinAbout:
      'تذكر خريطة الاستيراد كل ملف من الحزمة مع بصمته، ويرفض المتصفح أي ملف يختلف. حين يكون للمرحِّل إصدار آخر لا تُحمَّل حزمته حتى تنسخ هذا من جديد.',
    pinnedCode: 'الشيفرة مع التحقق',
    copyPinned: 'انسخ الشيفرة مع التحقق',
    noPins: 'المرحِّل لا يجيب أو حزمته غير مبنية. افتح هذا من جديد للمحاولة مرة أخرى.',
    more: 'شاهد الأمثلة',
    sites: 'شاهد المواقع المنشورة',
    runRelay: 'شغّل مرحِّلًا خاصًا بك',
    runRelayAbout: 'برنامج واحد على جهاز له عنوان عام وسجلّا DNS:',
    runRelayHow: 'كيف يُثبَّت',
    languages: 'اللغات',
  },

  TOOLS: {
    title: 'خادم الأدوات',
    connect: 'ضع هذا في إعدادات مساعد يتكلم MCP، فتعمل أدواته في هذا التبويب:',
    copy: 'انسخ الإعدادات',
    calls: 'النداءات',
    noCalls: 'لا شيء بعد. قل للمساعد: «اسألني شيئًا بأداتك ask».',
    answer: 'أجب',
    answerTo: (question) => `الجواب عن: ${question}`,
    answered: (answer) => `أجبت: ${answer}`,
    over: 'لم يعد المساعد ينتظر.',

    show: 'تعرض نصًا للشخص الذي يفتح هذه الصفحة.',
    showText: 'النص، بلا ترميز.',
    shown: 'الشخص يراه.',
    ask: 'تسأل الشخص الذي يفتح هذه الصفحة وتعيد جوابه. يستغرق ذلك 50 ثانية على الأكثر.',
    askQuestion: 'السؤال، بلا ترميز.',
    noAnswer: 'لم يجب الشخص في الوقت.',
    tooMany: 'لدى الشخص أسئلة أخرى قبل هذا.',
    noText: (max) => `يجب أن يكون نصًا من 1 إلى ${max} حرف.`,

    pageTitle: 'خادم أدوات في تبويب متصفح',
    pageText: 'ينادي المساعدون أدواته على هذا العنوان ببروتوكول Model Context Protocol فوق HTTP.',
    pageFoot: 'جاءت هذه الصفحة مباشرة من تبويب متصفح شخص ما.',
  },
}
