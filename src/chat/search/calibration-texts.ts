/** A text, and what people would ask who look for it: in other words, and in its own. */
export interface CalibrationText {
  readonly text: string;
  readonly asked: readonly string[];
}

/**
 * Short messages of many subjects, each the answer to its own questions and to no other's; at the end
 * some that only a name or a number tells apart.
 */
export const calibrationTexts: readonly CalibrationText[] = [
  {
    text: 'You can change your password on the account page, under security.',
    asked: ['I forgot my login credentials', 'change password account'],
  },
  {
    text: 'The deployment failed because the container ran out of memory.',
    asked: ['why did the release crash', 'deployment container memory'],
  },
  {
    text: 'Boil the pasta for nine minutes and keep a cup of the water for the sauce.',
    asked: ['how long to cook spaghetti', 'boil pasta minutes'],
  },
  {
    text: 'Our flight to Lisbon leaves at seven in the morning from gate 12.',
    asked: ['when does the plane depart', 'flight Lisbon gate'],
  },
  {
    text: 'The invoice for October is still unpaid; a reminder went out on Monday.',
    asked: ['which bills are outstanding', 'invoice October reminder'],
  },
  {
    text: 'Use an index on the customer column, then the query takes milliseconds.',
    asked: ['make the database faster', 'index customer column query'],
  },
  {
    text: 'The doctor advised plenty of rest and warm tea against the cold.',
    asked: ['what helps when you are ill', 'doctor rest tea'],
  },
  {
    text: 'Add a unit test that covers the empty list before you merge.',
    asked: ['check the edge case first', 'unit test empty list'],
  },
  {
    text: 'Tomatoes need six hours of sun and water every evening.',
    asked: ['how do I grow vegetables', 'tomatoes sun water'],
  },
  {
    text: 'The meeting with the investors was moved to Thursday afternoon.',
    asked: ['new date of the appointment', 'meeting investors Thursday'],
  },
  {
    text: 'The car makes a grinding noise because the brake pads are worn.',
    asked: ['strange sound from my vehicle', 'brake pads noise'],
  },
  {
    text: 'Rome became an empire under Augustus in 27 BC.',
    asked: ['first emperor in ancient history', 'Rome Augustus empire'],
  },
  {
    text: 'Set the environment variable LOG_LEVEL to debug to see more output.',
    asked: ['make logging more verbose', 'LOG_LEVEL debug'],
  },
  {
    text: 'The kittens were born last night and both are healthy.',
    asked: ['news about the baby cats', 'kittens born healthy'],
  },
  {
    text: 'We raise salaries by four percent for all employees in January.',
    asked: ['will the staff get more pay', 'salaries January percent'],
  },
  {
    text: 'Water freezes at zero degrees Celsius and expands as it does.',
    asked: ['temperature at which ice forms', 'water freezes Celsius'],
  },
  {
    text: 'The contract can be cancelled with three months notice.',
    asked: ['how to terminate the agreement', 'contract cancelled notice'],
  },
  {
    text: 'Her violin concerto in D major was played twice this season.',
    asked: ['classical music performance', 'violin concerto season'],
  },
  {
    text: 'Roll the branch back and cherry-pick only the fix for the parser.',
    asked: ['undo the commits in git', 'cherry-pick parser fix'],
  },
  {
    text: 'A mortgage over twenty years costs less interest than one over thirty.',
    asked: ['borrowing money to buy a house', 'mortgage interest years'],
  },
  {
    text: 'The goalkeeper saved two penalties and the team won the cup.',
    asked: ['who won the football final', 'goalkeeper penalties cup'],
  },
  {
    text: 'Take the second road on the left after the railway bridge.',
    asked: ['directions to your place', 'road left railway bridge'],
  },
  {
    text: 'The server certificate expires on Sunday and must be renewed.',
    asked: ['TLS is about to become invalid', 'server certificate expires'],
  },
  {
    text: 'Photosynthesis turns light, water and carbon dioxide into sugar.',
    asked: ['how plants make energy', 'photosynthesis light sugar'],
  },
  {
    text: 'Please translate this letter into French before noon.',
    asked: ['I need it in another language', 'translate letter French'],
  },
  {
    text: 'The children start school again in the second week of September.',
    asked: ['end of the summer holidays', 'children school September'],
  },
  {
    text: 'Rate limiting answers 429 when a client sends too many requests.',
    asked: ['throttle callers of the API', '429 requests client'],
  },
  {
    text: 'The roof leaks whenever it rains from the west.',
    asked: ['water comes into the attic', 'roof leaks rains'],
  },
  {
    text: 'Subtract the mean and divide by the standard deviation.',
    asked: ['normalise the features', 'mean standard deviation'],
  },
  {
    text: 'The museum is closed on Mondays and free on the first Sunday.',
    asked: ['opening hours of the gallery', 'museum closed Mondays'],
  },
  {
    text: 'She runs ten kilometres before breakfast to prepare for the marathon.',
    asked: ['training for a long race', 'runs kilometres marathon'],
  },
  {
    text: 'The email was caught by the spam filter and never arrived.',
    asked: ['my message was not delivered', 'email spam filter'],
  },
  {
    text: 'Paint the wall white first, or the blue will look green.',
    asked: ['decorating the living room', 'paint wall white blue'],
  },
  {
    text: 'A recursive function needs a base case, or the stack overflows.',
    asked: ['program calls itself forever', 'recursive function base case'],
  },
  {
    text: 'The election results will be announced tonight at eight.',
    asked: ['when do we know who was voted in', 'election results announced'],
  },
  {
    text: 'He inherited the farm with forty cows from his uncle.',
    asked: ['agriculture and cattle in the family', 'inherited farm cows'],
  },
  {
    text: 'The battery lasts two days when the screen is dimmed.',
    asked: ['phone runs out of power quickly', 'battery screen days'],
  },
  {
    text: 'Customs held the parcel for a week because a form was missing.',
    asked: ['shipment delayed at the border', 'customs parcel form'],
  },
  {
    text: 'Mix flour, butter and sugar, then bake the cake at 180 degrees.',
    asked: ['recipe for something sweet', 'flour butter bake cake'],
  },
  {
    text: 'Backups run every night and are kept for thirty days.',
    asked: ['can I restore lost files', 'backups night days'],
  },
  {
    text: 'Ticket ENG-4711 is about the login page that stays blank.',
    asked: ['ENG-4711', 'ticket 4711'],
  },
  {
    text: 'Ticket ENG-4821 is about the login page that loads twice.',
    asked: ['ENG-4821', 'ticket 4821'],
  },
  {
    text: 'Ticket ENG-5130 is about the settings page that stays blank.',
    asked: ['ENG-5130', 'blank settings ticket'],
  },
  {
    text: 'The error E_CONNRESET comes from the proxy in front of the database.',
    asked: ['E_CONNRESET', 'proxy E_CONNRESET'],
  },
  {
    text: 'The error E_TIMEDOUT comes from the proxy in front of the cache.',
    asked: ['E_TIMEDOUT', 'cache proxy E_TIMEDOUT'],
  },
  {
    text: 'Ask Mrs Quibbleworth for the keys of the meeting room.',
    asked: ['Quibbleworth', 'keys Quibbleworth'],
  },
  {
    text: 'Ask Mr Haverstock for the keys of the storage room.',
    asked: ['Haverstock', 'storage Haverstock'],
  },
  {
    text: 'Call parseInvoiceHeader before parseInvoiceLines, or the total is wrong.',
    asked: ['parseInvoiceHeader', 'parseInvoiceHeader total'],
  },
  {
    text: 'Call formatInvoiceTotal before printing, or the currency is missing.',
    asked: ['formatInvoiceTotal', 'formatInvoiceTotal currency'],
  },
  {
    text: 'Order 20931 was sent on 3 May to Rotterdam.',
    asked: ['order 20931', 'Rotterdam 20931'],
  },
  {
    text: 'Order 20944 was sent on 5 May to Antwerp.',
    asked: ['order 20944', 'Antwerp 20944'],
  },
  {
    text: 'Version 2.4.17 fixes the crash when a file is renamed.',
    asked: ['2.4.17', 'renamed crash 2.4.17'],
  },
  {
    text: 'Version 2.5.03 fixes the crash when a folder is deleted.',
    asked: ['2.5.03', 'version 2.5.03'],
  },
];

/** By its vector an embedder is known again. */
export const probeText = 'The quick brown fox sends an invoice for the database server at noon.';
